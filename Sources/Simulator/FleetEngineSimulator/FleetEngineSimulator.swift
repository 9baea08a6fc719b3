// FleetEngineSimulator
