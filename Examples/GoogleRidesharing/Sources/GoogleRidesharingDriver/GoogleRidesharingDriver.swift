@_exported import DriverAuthorization
