// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"time"

	"example.org/ibconsole/shell/session/folders"
)

// ReadFolders reads the ibdiagnet folders of the arguments as an operation of the session, see [folders.Read].
func (c *Call) ReadFolders(since time.Time) (*folders.Series, error) {
	op, err := c.Session.Begin(c.Ctx, "read folders of ibdiagnet")
	if err != nil {
		return nil, err
	}
	defer op.End()
	return folders.Read(c.Ctx, c.Args, since, op.Progress)
}
