// SQLiteOutbox
