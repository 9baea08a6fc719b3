// BackendAuthorization
