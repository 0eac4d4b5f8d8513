// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"context"
	"errors"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/metrics"
)

// ErrExit is the error of the command that ends the console.
var ErrExit = errors.New("exit")

// Console is what runs commands, for those that are about the console itself.
type Console interface {
	// Help explains the command that words name; without any it lists them all.
	Help(words ...string) (string, error)
	// Run runs the commands of a text, which has a name, in place of the call.
	Run(ctx context.Context, name, text string) error
	// Subnets returns the subnets that are open, one at least. One alone has the name of its source.
	Subnets() []Subnet
	// Choose has commands act on a subnet that name none. It returns that subnet; "" is for the one that was chosen
	// before.
	Choose(name string) (Subnet, error)
	// Metrics returns the servers of metrics that the subnets share, and the name of this subnet among several.
	Metrics() (servers *metrics.Servers, subnet string)
}

// Subnet is one of the subnets that the console has open.
type Subnet interface {
	Name() string
	Session() *session.Session
	// Trouble returns why nothing is known of the subnet, nil where something is.
	Trouble() error
	// Wait waits until the subnet was read for the first time.
	Wait(ctx context.Context) error
}
