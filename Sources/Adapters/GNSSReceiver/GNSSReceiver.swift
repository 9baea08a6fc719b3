// GNSSReceiver
