// FleetEngineSimulatorTests
