// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"math"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/linkload"
)

// sharedLoad is what links carry if each choice of adaptive routing is as likely as the others, beside the linear tables.
type sharedLoad struct {
	Worst       float64       `json:"worst"`        // paths over a link between switches
	StaticWorst int64         `json:"static_worst"` // by the linear tables
	Lost        float64       `json:"lost"`
	Looping     int64         `json:"looping"`
	Links       []shareOfLink `json:"links"` // the most loaded ones between switches
	all         []shareOfLink
}

type shareOfLink struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Paths  float64 `json:"paths"`
	Static int64   `json:"static"`
	port   fabric.PortIndex
}

func sharedLoadOf(s *choices.Loads, static *linkload.Loads) *sharedLoad {
	f := s.Fabric
	a := &sharedLoad{Lost: s.Lost, Looping: s.Looping}
	for port := range f.NumPorts() {
		if f.PeerSwitch(port) == fabric.None || f.Nodes[f.Ports[port].Node].Switch == fabric.None {
			continue
		}
		l := shareOfLink{port: port, Paths: s.Paths[port], Static: static.Paths[port]}
		a.Worst, a.StaticWorst = max(a.Worst, l.Paths), max(a.StaticWorst, l.Static)
		a.all = append(a.all, l)
	}
	slices.SortStableFunc(a.all, func(x, y shareOfLink) int { return cmp.Compare(y.Paths, x.Paths) })
	for i := range a.all {
		l := &a.all[i]
		l.Paths = math.Round(l.Paths*1000) / 1000
		l.From, l.To = f.PortName(l.port), f.PortName(f.Ports[l.port].Peer)
	}
	a.Links = a.all[:min(len(a.all), worstLinks)]
	return a
}

func (a *sharedLoad) text(line func(format string, args ...any)) {
	if a == nil {
		return
	}
	line("  with adaptive routing, each choice as likely as the others: at most %.1f paths over a link between switches, %d by the linear tables", a.Worst, a.StaticWorst)
	if a.Looping > 0 {
		line("    %s can loop and are not counted", count(int(a.Looping), "pair"))
	}
}

func (a *sharedLoad) table(f *fabric.Fabric) Table {
	return tableOf("links between switches by shares", []string{"FROM", "TO", "SHARES", "STATIC"}, a.all, func(l shareOfLink) plainRow {
		return plainRow{leads{toPort(f, l.port)}, []any{l.From, l.To, l.Paths, l.Static}}
	})
}
