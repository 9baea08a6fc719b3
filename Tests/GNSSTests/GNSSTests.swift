// GNSSTests
