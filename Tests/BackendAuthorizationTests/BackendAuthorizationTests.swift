// BackendAuthorizationTests
