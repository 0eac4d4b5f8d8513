// SPDX-License-Identifier: Apache-2.0

package history

// version is the version of the schema. The file stores it in SQLite's user_version.
const version = len(upgrades)

// upgrades holds the SQL statements that upgrade a file: upgrades[v] from version v to v+1. An empty file has version
// 0.
var upgrades = [...]string{
	schema,
	`CREATE TABLE setting (
		name  TEXT PRIMARY KEY,
		value INTEGER NOT NULL
	)`,
	"ALTER TABLE journal ADD COLUMN ends INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE journal ADD COLUMN others TEXT NOT NULL DEFAULT ''",
	"ALTER TABLE entry ADD COLUMN events TEXT NOT NULL DEFAULT ''",
	"ALTER TABLE entry ADD COLUMN simulated TEXT NOT NULL DEFAULT ''",
	"ALTER TABLE entry ADD COLUMN seen TEXT NOT NULL DEFAULT ''",
	"ALTER TABLE journal ADD COLUMN controls TEXT NOT NULL DEFAULT ''",
	"ALTER TABLE journal ADD COLUMN halfway INTEGER NOT NULL DEFAULT 0",
}

const schema = `
CREATE TABLE blob (
	id   INTEGER PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE,
	data BLOB NOT NULL
);
CREATE TABLE entry (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	kind    TEXT NOT NULL,
	subnet  TEXT NOT NULL,
	began   INTEGER NOT NULL,
	until   INTEGER NOT NULL,
	who     TEXT NOT NULL,
	source  TEXT NOT NULL,
	engine  TEXT NOT NULL,
	options TEXT NOT NULL,
	note    TEXT NOT NULL,
	figures TEXT NOT NULL,
	fabric  INTEGER NOT NULL REFERENCES blob,
	tables  INTEGER REFERENCES blob,
	rest    INTEGER REFERENCES blob
);
CREATE INDEX entry_by_subnet ON entry (subnet, id);
CREATE TABLE journal (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	subnet  TEXT NOT NULL,
	began   INTEGER NOT NULL,
	ended   INTEGER,
	state   TEXT NOT NULL,
	who     TEXT NOT NULL,
	before  INTEGER NOT NULL REFERENCES entry ON DELETE RESTRICT,
	after   INTEGER NOT NULL REFERENCES entry ON DELETE RESTRICT,
	note    TEXT NOT NULL
);
`
