// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"

	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/metrics"
)

// theConsole implements [feature.Console] for one call of a command.
type theConsole struct{ *call }

// Help implements [feature.Console].
func (c theConsole) Help(words ...string) (string, error) { return c.shell.Help(words...) }

// Run implements [feature.Console].
func (c theConsole) Run(ctx context.Context, name, text string) error {
	stmts, err := lang.Parse(name, text)
	if err != nil {
		return err
	}
	if err := c.shell.mustName(stmts); err != nil {
		return err
	}
	return c.shell.Execute(ctx, name, stmts, c.out)
}

// Subnets implements [feature.Console].
func (c theConsole) Subnets() []feature.Subnet {
	if c.shell.among == nil {
		return []feature.Subnet{&Subnet{Shell: c.shell, name: c.session.State().Source.String()}}
	}
	return c.shell.among.subnets()
}

// Choose implements [feature.Console].
func (c theConsole) Choose(name string) (feature.Subnet, error) {
	s := c.shell.among
	if name != "" {
		at, err := s.Find(name)
		if err != nil {
			return nil, err
		}
		s.Choose(at)
	}
	if s == nil {
		return c.Subnets()[0], nil
	}
	return s.current(), nil
}

// Metrics implements [feature.Console].
func (c theConsole) Metrics() (servers *metrics.Servers, subnet string) {
	if c.shell.among == nil {
		return nil, ""
	}
	for _, n := range c.shell.among.all {
		if n.Shell == c.shell {
			subnet = n.name
		}
	}
	return &c.shell.among.metrics, subnet
}
