// SQLiteOutboxTests
