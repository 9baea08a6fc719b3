// HTTPServiceTests
