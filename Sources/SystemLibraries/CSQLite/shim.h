#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast macro, which Swift doesn't import.
static inline int csqlite_bind_text_copy(sqlite3_stmt *_Nonnull statement, int index, const void *_Nullable bytes, int count) {
    return sqlite3_bind_text(statement, index, (const char *)bytes, count, SQLITE_TRANSIENT);
}
// sqlite3_config is variadic, so Swift can't call it. The call fails without effect if this process has already used SQLite.
static inline int csqlite_disable_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
// sqlite3_db_config is variadic, too.
static inline int csqlite_set_checkpoint_on_close(sqlite3 *_Nonnull database, int enabled) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !enabled, (int *)0);
}
// Makes SQLite treat the file's schema as untrusted: no triggers or views run, and no statement can damage the file.
static inline int csqlite_disable_trusted_schema(sqlite3 *_Nonnull database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    return code;
}
