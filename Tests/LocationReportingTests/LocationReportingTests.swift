// LocationReportingTests
