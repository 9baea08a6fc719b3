// HTTPMessagesTests
