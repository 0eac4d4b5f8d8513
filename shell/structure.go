// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const hintsHelp = "FILE is YAML: a list, each element of which has name (a node description, * and ? stand for what varies) or guid (of a node), and one or\n" +
	"more of role (host, storage, gateway, service or aggregation), tier (0 for leaves), pod, plane and rail (from 1), as in\n" +
	"  - {name: \"gpfs-*\", role: storage}\n" +
	"  - {guid: 0x0002c903000a0001, tier: 2, pod: 1}\n" +
	"What it says overrules names and cabling wherever the structure of the subnet matters; a later element overrules an earlier one.\n"

func hintsCommands() []Spec {
	return []Spec{{Name: "hints", Summary: "take roles, tiers, pods, planes and rails from a file, in place of what is recognised; off: forget them", Help: hintsHelp,
		Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Words: []string{offWord}}}, Run: runHints}}
}

func runHints(c *call) error {
	if c.Arg(0) == offWord {
		c.session.ForgetHints()
		return c.say(object{"hints": 0}, "the structure is what is recognised")
	}
	hints, err := c.session.LoadHints(c.ctx, c.Arg(0))
	if err != nil {
		return err
	}
	return c.say(object{"hints": len(hints.All)}, "%s from %s (show structure)", count(len(hints.All), "hint"), quoteFile(c.Arg(0)))
}

// structure is what a subnet is built like.
type structure struct {
	Structure   string          `json:"structure"`
	Shape       string          `json:"shape"`
	Dimensions  []int           `json:"dimensions,omitempty"`
	Hosts       int             `json:"hosts"`
	Adapters    int             `json:"adapters"`
	Storage     int             `json:"storage_nodes"`
	Service     int             `json:"service_nodes"`
	Gateways    int             `json:"gateways"`
	Routers     int             `json:"routers"`
	Aggregation int             `json:"aggregation_nodes"`
	Tiers       []structureTier `json:"tiers"`
	Groups      []structurePart `json:"groups,omitempty"`
	Pods        []structurePart `json:"pods,omitempty"`
	Planes      []structurePart `json:"planes,omitempty"`
	Rails       []structureRail `json:"rails,omitempty"`
	RailsBy     string          `json:"rails_by,omitempty"` // number or cabling
	Directors   []director      `json:"directors,omitempty"`
	Cages       []cage          `json:"plane_switches,omitempty"`
	Odd         []oddRow        `json:"odd"`
	of          *classify.Structure
}

type structureTier struct {
	Tier     int `json:"tier"`
	Switches int `json:"switches"`
	Hosts    int `json:"host_ports"` // attached to them
}

type structurePart struct {
	Number   int      `json:"number"`
	Switches []string `json:"switches"`
}

type structureRail struct {
	Name   string `json:"name"`
	Leaves int    `json:"leaves"`
	Ports  int    `json:"host_ports"`
}

type director struct {
	Name   string   `json:"name"`
	Leaves []string `json:"leaf_boards"`
	Spines []string `json:"spine_boards"`
}

// cage is one switch that the subnet has as one for each plane.
type cage struct {
	Name   string   `json:"name"`
	Planes []string `json:"planes"`
}

// oddRow is what is odd about a node.
type oddRow struct {
	leads
	Node string `json:"node,omitempty"`
	What string `json:"what"`
}

func (c *call) showStructure(st *session.State, p *session.Picture) error {
	c.out.note("of %s", st.Title(p))
	return c.out.Answer(structureOf(c.session.Analysis().Structure(p.Fabric)))
}

func structureOf(s *classify.Structure) *structure {
	f := s.Fabric
	a := &structure{
		Structure: s.Title(), Shape: s.Shape.String(), of: s, Adapters: s.Nodes.Adapters, Aggregation: s.Nodes.Aggregation, Routers: s.Nodes.Routers,
		Hosts: s.Nodes.Hosts[classify.KindHost], Storage: s.Nodes.Hosts[classify.KindStorage],
		Gateways: s.Nodes.Hosts[classify.KindGateway], Service: s.Nodes.Hosts[classify.KindService],
		Groups: partsOf(f, s.Groups), Pods: partsOf(f, s.Pods), Planes: partsOf(f, s.Planes), Odd: []oddRow{},
	}
	if s.Grid != nil {
		a.Dimensions = s.Grid.Dims
	}
	for i, tier := range s.Tiers() {
		t := structureTier{Tier: i, Switches: len(tier)}
		for _, sw := range tier {
			t.Hosts += s.Switches[sw].Hosts
		}
		a.Tiers = append(a.Tiers, t)
	}
	for i, name := range s.Rails.Names {
		a.Rails = append(a.Rails, structureRail{name, s.Rails.Leaves[i], s.Rails.Ports[i]})
		a.RailsBy = prose.When(s.Rails.ByCabling, "cabling", "number")
	}
	for _, d := range s.Directors {
		a.Directors = append(a.Directors, director{d.Name, namesOf(f, d.Leaves), namesOf(f, d.Spines)})
	}
	for _, c := range s.Cages {
		a.Cages = append(a.Cages, cage{c.Name, namesOf(f, c.Planes)})
	}
	for _, o := range s.Odd {
		row := oddRow{leads: leads{toNode(f, o.Node)}, What: o.What}
		if o.Node != fabric.None {
			row.Node = f.NodeName(o.Node)
		}
		a.Odd = append(a.Odd, row)
	}
	return a
}

func namesOf(f *fabric.Fabric, switches []fabric.SwitchIndex) []string {
	return prose.Words(switches, func(s fabric.SwitchIndex) string { return f.NodeName(f.Switches[s]) })
}

// partsOf are parts where there are several.
func partsOf(f *fabric.Fabric, p classify.Parts) (all []structurePart) {
	if !p.Has() {
		return nil
	}
	for i, members := range p.Members() {
		all = append(all, structurePart{i + 1, namesOf(f, members)})
	}
	return all
}

// mostOdd is how much that is odd people read; --json and the screen have all of it.
const mostOdd = 30

// Text sums it up, and ends with what is odd.
func (a *structure) Text(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(head, format string, args ...any) {
		_, _ = fmt.Fprintf(tw, "%s\t%s\n", head, fmt.Sprintf(format, args...))
	}
	line("structure", "%s", a.Structure)
	nodes := []string{count(a.Hosts, "host")}
	if a.Adapters != a.Hosts+a.Storage+a.Service+a.Gateways {
		nodes = append(nodes, count(a.Adapters, "channel adapter")+" in all")
	}
	for _, more := range []struct {
		n    int
		noun string
	}{{a.Storage, "storage node"}, {a.Service, "service node"}, {a.Gateways, "gateway"}, {a.Routers, "router"}, {a.Aggregation, "aggregation node"}} {
		if more.n > 0 {
			nodes = append(nodes, count(more.n, more.noun))
		}
	}
	line("nodes", "%s", strings.Join(nodes, ", "))
	for i := len(a.Tiers) - 1; i >= 0; i-- {
		t := a.Tiers[i]
		head := prose.When(len(a.Tiers) == 1, "switches", prose.When(i == 0, "leaves", fmt.Sprintf("tier %d", i)))
		line(head, "%s, %s", count(t.Switches, "switch"), count(t.Hosts, "host port"))
	}
	for _, p := range []struct {
		head  string
		parts []structurePart
	}{{"groups", a.Groups}, {"pods", a.Pods}, {"planes", a.Planes}} {
		if len(p.parts) > 0 {
			line(p.head, "%d, of %s", len(p.parts), partSizes(p.parts))
		}
	}
	if len(a.Rails) > 0 {
		rails := prose.Words(a.Rails, func(r structureRail) string {
			return fmt.Sprintf("%s: %d ports on %s", r.Name, r.Ports, count(r.Leaves, "leaf switch"))
		})
		line("rails", "by the %s: %s", prose.When(a.RailsBy == "number", "number of the adapter", "cabling"), strings.Join(rails, "; "))
	}
	shown, more := prose.Cut(a.Directors, mostLines)
	for _, d := range shown {
		line("director", "%s: %s, %s", d.Name, count(len(d.Leaves), "leaf board"), count(len(d.Spines), "spine board"))
	}
	if more != "" {
		line("director", "%s", more)
	}
	if len(a.Cages) > 0 {
		line("cages", "%s of %d planes", count(len(a.Cages), "switch"), classify.CagePlanes)
	}
	odd, more := prose.Cut(a.Odd, mostOdd)
	for _, o := range odd {
		line("odd", "%s", strings.TrimSpace(o.Node+"  "+o.What))
	}
	if more != "" {
		line("odd", "%s", more)
	}
	_ = tw.Flush()
}

// mostLines is how many directors people read.
const mostLines = 12

// partSizes says how many switches parts have: "18 switches", "16 to 18 switches".
func partSizes(parts []structurePart) string {
	by := func(a, b structurePart) int { return cmp.Compare(len(a.Switches), len(b.Switches)) }
	low, high := len(slices.MinFunc(parts, by).Switches), len(slices.MaxFunc(parts, by).Switches)
	if low == high {
		return count(low, "switch")
	}
	return fmt.Sprintf("%d to %s", low, count(high, "switch"))
}

// Tables has what is odd, then the switches with their places.
func (a *structure) Tables() []Table {
	f := a.of.Fabric
	odd := tableOf("odd", []string{"NODE", "WHAT"}, a.Odd, func(o oddRow) plainRow { return plainRow{o.leads, []any{orDash(o.Node), o.What}} })
	switches := Table{Title: "switches", Columns: []string{"SWITCH", "TIER", "POD", "PLANE", "RAIL", "GROUP", "AT", "BOARD", "HOSTS", "LINKS"}}
	board := map[fabric.SwitchIndex]string{}
	for _, d := range a.of.Directors {
		for _, b := range d.Leaves {
			board[b] = d.Name + " leaf"
		}
		for _, b := range d.Spines {
			board[b] = d.Name + " spine"
		}
	}
	for _, c := range a.of.Cages {
		for i, sw := range c.Planes {
			board[sw] = fmt.Sprintf("%s plane %d", c.Name, i+1)
		}
	}
	part := func(of []int32, s int) string { return prose.When(of[s] == classify.None, "-", fmt.Sprint(of[s]+1)) }
	height := a.of.Heights()
	for s, n := range f.Switches {
		if !f.Nodes[n].InSubnet {
			continue
		}
		sw := &a.of.Switches[s]
		rail := "-"
		if r := a.of.Rails.Of[s]; r != classify.None {
			rail = a.of.Rails.Names[r]
		}
		switches.Rows = append(switches.Rows, plainRow{leads{toNode(f, n)}, []any{f.NodeName(n), height[s], part(a.of.Pods.Of, s), part(a.of.Planes.Of, s), rail,
			part(a.of.Groups.Of, s), orDash(a.of.Coordinates(fabric.SwitchIndex(s))), orDash(board[fabric.SwitchIndex(s)]), sw.Hosts, sw.Degree}})
	}
	return []Table{odd, switches}
}
