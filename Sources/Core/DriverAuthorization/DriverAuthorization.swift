// DriverAuthorization
