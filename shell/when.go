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
	return c.feature().Time(name, otherwise, now)
}
