// GNSSReceiverTests
