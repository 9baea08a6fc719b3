// VehicleAuthorizationTests
