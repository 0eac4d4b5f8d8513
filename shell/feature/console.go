// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"errors"

	"example.org/ibconsole/shell/session"
)

// ErrExit is the error of the command that ends the console.
var ErrExit = errors.New("exit")

// Console is what runs commands, for those that are about the console itself.
type Console interface {
	// Help explains the command that words name; without any it lists them all.
	Help(words ...string) (string, error)
	// Run runs the commands of a text, which has a name, in place of the call.
	Run(name, text string) error
	// Metrics returns the servers of metrics that the subnets share, and the name of this subnet among several.
	Metrics() (servers *session.MetricsServers, subnet string)
}
