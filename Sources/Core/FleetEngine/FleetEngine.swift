// FleetEngine
