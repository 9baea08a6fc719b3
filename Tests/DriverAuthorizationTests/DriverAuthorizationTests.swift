// DriverAuthorizationTests
