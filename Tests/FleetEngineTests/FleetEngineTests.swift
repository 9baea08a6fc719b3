// FleetEngineTests
