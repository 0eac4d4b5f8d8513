// SPDX-License-Identifier: Apache-2.0

package sqlfile

import (
	"context"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// patience is the maximum time to wait for a file that another program uses. It is also the busy_timeout of [Writing].
const patience = 10 * time.Second

// Patiently calls do again while another program blocks the file in a state in which SQLite does not wait by itself.
// For example, if two programs create the log of a new file, SQLite immediately fails in one of them.
func Patiently(ctx context.Context, do func(context.Context) error) error {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := do(ctx)
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-limit.Done():
			return err
		}
	}
}
