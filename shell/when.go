// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"time"

	"example.org/ibconsole/internal/base/when"
)

// whenHelp says which times there are.
const whenHelp = when.Help

// whenOption is the time that an option gives.
func (c *call) whenOption(name, otherwise string, now time.Time) (time.Time, error) {
	t, err := when.Parse(c.Option(name, otherwise), now)
	if err != nil {
		return t, c.Misused("%s: %v", name, err)
	}
	return t, nil
}
