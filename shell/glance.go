// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/feature/sources"
)

// Glance is an overview of a subnet that is available without waiting.
type Glance struct {
	Name    string
	Trouble string // why it could not be read
	Lost    string
	Busy    string
	Paper   string // the states except live
	Read    time.Time
	Stamp   string // changes with everything that an overview depends on
}

// Glances returns the overviews of all subnets without waiting.
func (s *Subnets) Glances() []Glance {
	var all []Glance
	for _, n := range s.all {
		st := n.session.State()
		g := Glance{Name: n.name, Lost: st.Lost, Busy: st.Busy}
		if err := n.Trouble(); err != nil {
			g.Trouble = err.Error()
		}
		if len(st.Live.Fabric.Nodes) > 0 {
			g.Read = st.Live.When
		}
		switch {
		case st.Staged != nil && !st.Written:
			g.Paper = "routes staged"
		case len(st.Failures) > 0:
			g.Paper = prose.Count(len(st.Failures), "simulated failure")
		}
		g.Stamp = fmt.Sprintf("%p %p %s %s %s", st.Live.Fabric, st.Live.Tables, g.Trouble, g.Lost, st.LiveEngine())
		all = append(all, g)
	}
	return all
}

// Compare compares all subnets. It keeps the figures of a subnet until the subnet changes.
func (s *Subnets) Compare(ctx context.Context) (*sources.Comparison, error) {
	return sources.Compare(ctx, s.subnets())
}

// subnets returns the open subnets as values of the interface [feature.Subnet].
func (s *Subnets) subnets() []feature.Subnet {
	all := make([]feature.Subnet, len(s.all))
	for i, n := range s.all {
		all[i] = n
	}
	return all
}
