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

// Glance is what is known of a subnet without looking further.
type Glance struct {
	Name    string
	Trouble string // why nothing is known of it
	Lost    string
	Busy    string
	Paper   string // which pictures there are beside the live one
	Read    time.Time
	Stamp   string // changes with what an overview depends on
}

// Glances are those of all subnets. They wait for nothing.
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
			g.Paper = prose.Count(len(st.Failures), "failure") + " on paper"
		}
		g.Stamp = fmt.Sprintf("%p %p %s %s %s", st.Live.Fabric, st.Live.Tables, g.Trouble, g.Lost, st.LiveEngine())
		all = append(all, g)
	}
	return all
}

// Compare looks at all subnets at once. What it finds of each is remembered for as long as that stays the same.
func (s *Subnets) Compare(ctx context.Context) (*sources.Comparison, error) {
	return sources.Compare(ctx, s.subnets())
}

// subnets returns the subnets for features.
func (s *Subnets) subnets() []feature.Subnet {
	all := make([]feature.Subnet, len(s.all))
	for i, n := range s.all {
		all[i] = n
	}
	return all
}
