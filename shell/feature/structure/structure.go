// SPDX-License-Identifier: Apache-2.0

// Package structure shows the structure of a subnet: its shape, tiers, pods, planes, rails, directors and anomalies.
package structure

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const offWord = "off"

const hintsHelp = "FILE is a YAML list. Each element has name (a node description with wildcards * and ?) or guid " +
	"(of a node), and one or\nmore of role (host, storage, gateway, service or aggregation), tier (0 for leaves), " +
	"pod, plane and rail (from 1):\n  - {name: \"gpfs-*\", role: storage}\n  - {guid: 0x0002c903000a0001, tier: 2, " +
	"pod: 1}\nHints override what names and cabling suggest. A later element overrides an earlier one."

// Feature provides the commands "show structure" and "hints".
var Feature = feature.Feature{Name: "structure", Keys: []feature.Key{
	{
		Name: "pane-N", Keys: "#", Pane: "Map", Help: "map of the subnet with the front panel of the selected " +
			"switch; arrows move, b chooses the colour",
	},
}, Commands: []feature.Command{
	{
		Path:     "show structure",
		Summary:  "Show tiers, pods, planes, rails, directors and anomalies",
		Examples: []string{"show structure", "show structure of=live"},
		Answers:  []answer.Declared{&decl},
		Run:      run,
	},
	{
		Path:    "hints",
		Group:   feature.GroupFiles,
		Summary: "Read roles, tiers, pods, planes and rails from a file",
		Help:    hintsHelp + "\nhints off removes all hints.",
		Args:    []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Words: []string{offWord}}},
		Examples: []string{
			"hints fabric.yaml; show structure",
			"hints off",
		},
		Answers: []answer.Declared{&hintsDecl},
		Run:     runHints,
	},
}}

// structure is the answer with the counts of a structure.
type structure struct {
	Structure  string       `key:"structure" help:"the structure as text"`
	Shape      string       `key:"shape" help:"fat-tree, torus, mesh, hypercube, dragonfly or another shape"`
	Dimensions answer.Value `key:"dimensions" kind:"list" help:"switches along each dimension of a torus or mesh"`
	Hosts      int          `key:"hosts"`
	Adapters   int          `key:"adapters" help:"channel adapters"`
	Storage    int          `key:"storage_nodes"`
	Service    int          `key:"service_nodes"`
	Gateways   int          `key:"gateways"`
	Routers    int          `key:"routers"`
	Aggregate  int          `key:"aggregation_nodes"`
	RailsBy    answer.Value `key:"rails_by" kind:"text" help:"basis of the assignment of rails: number or cabling"`
	Nodes      string       `name:"nodes"`
	GroupSizes answer.Value `name:"group sizes" kind:"text"`
	PodSizes   answer.Value `name:"pod sizes" kind:"text"`
	PlaneSizes answer.Value `name:"plane sizes" kind:"text"`
	RailSizes  answer.Value `name:"rail sizes" kind:"text"`
	Cages      answer.Value `name:"cages" kind:"int"`
	of         *classify.Structure
}

// tier is a tier of a tree. If the topology is not a tree, a single tier has all switches.
type tier struct {
	Tier     int    `key:"tier" help:"0 for leaves"`
	Name     string `name:"TIER"`
	Switches int    `key:"switches" name:"SWITCHES"`
	Hosts    int    `key:"host_ports" name:"HOST PORTS" help:"host ports attached to these switches"`
}

// part is a group, pod or plane.
type part struct {
	Number   int          `key:"number" name:"NUMBER"`
	Switches answer.Value `key:"switches" name:"SWITCHES" kind:"list"`
}

// rail is a rail of the hosts.
type rail struct {
	Name   string `key:"name" name:"RAIL"`
	Leaves int    `key:"leaves" name:"LEAVES"`
	Ports  int    `key:"host_ports" name:"HOST PORTS"`
}

// director is a switch of several boards.
type director struct {
	Name       string       `key:"name" name:"DIRECTOR"`
	LeafCount  int          `name:"LEAF BOARDS"`
	SpineCount int          `name:"SPINE BOARDS"`
	Leaves     answer.Value `key:"leaf_boards" kind:"list"`
	Spines     answer.Value `key:"spine_boards" kind:"list"`
}

// cage is a physical switch that appears in the subnet as several switches, one per plane.
type cage struct {
	Name   string       `key:"name" name:"SWITCH"`
	Planes answer.Value `key:"planes" name:"PLANES" kind:"list"`
}

// anomaly is a row of the table: a node that differs from its peers.
type anomaly struct {
	Node answer.Value `key:"node" name:"NODE" kind:"place"`
	What string       `key:"what" name:"DIFFERENCE" help:"how it differs from its peers"`
	lead answer.Lead
}

// position is a row of the table: the position of a switch in the structure.
type position struct {
	Switch answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	Tier   int32        `key:"tier" name:"TIER" help:"0 for leaves"`
	Pod    answer.Value `key:"pod" name:"POD" kind:"int"`
	Plane  answer.Value `key:"plane" name:"PLANE" kind:"int"`
	Rail   answer.Value `key:"rail" name:"RAIL" kind:"text"`
	Group  answer.Value `key:"group" name:"GROUP" kind:"int"`
	At     answer.Value `key:"at" name:"AT" kind:"text" help:"coordinates in a torus, mesh or hypercube"`
	Board  answer.Value `key:"board" name:"BOARD" kind:"text" help:"its director or switch of several planes"`
	Hosts  int          `key:"hosts" name:"HOSTS" help:"attached host ports"`
	Links  int          `key:"links" name:"LINKS" help:"links to switches"`
	lead   answer.Lead
}

// The maximum numbers of rows of the tables in text. JSON and the screen have all rows.
const (
	mostDirectors = 12
	mostAnomalies = 30
)

var (
	tierTable = answer.Table[tier]{
		Key: "tiers", Title: "tiers", Fields: answer.Fields[tier](),
		Row: "{TIER}\t{switches|switch}, {host_ports|host port}",
	}
	railTable     = answer.Table[rail]{Key: "rails", Title: "rails", Fields: answer.Fields[rail]()}
	directorTable = answer.Table[director]{
		Key: "directors", Title: "directors", Fields: answer.Fields[director](), MaxRows: mostDirectors,
		Row: "director\t{name}: {LEAF BOARDS|leaf board}, {SPINE BOARDS|spine board}",
	}
	cageTable = answer.Table[cage]{
		Key: "plane_switches", Title: "switches of several planes", Fields: answer.Fields[cage](),
	}
	anomalyTable = answer.Table[anomaly]{
		Key: "anomalies", Title: "anomalies", Fields: answer.Fields[anomaly](), MaxRows: mostAnomalies,
		Row:  "anomaly\t[{node}  ]{what}",
		Lead: func(a anomaly) answer.Lead { return a.lead },
	}
	switchTable = answer.Table[position]{
		Key: "switches", Title: "switches", Stream: true, Fields: answer.Fields[position](),
		Lead: func(p position) answer.Lead {
			return p.lead
		},
	}
)

var decl = answer.Decl[structure]{
	Command: "show structure", Help: "the structure of a subnet", Facts: answer.Fields[structure](),
	Layout: []answer.Item[structure]{
		{Line: "structure\t{structure}"},
		{Line: "nodes\t{nodes}"},
		{Table: answer.Show(&tierTable, func(s structure) answer.Rows[tier] { return answer.Slice(s.tiers()) })},
		{Line: "{?group sizes}groups\t{group sizes}"},
		{Line: "{?pod sizes}pods\t{pod sizes}"},
		{Line: "{?plane sizes}planes\t{plane sizes}"},
		{Line: "{?rail sizes}rails\tby the {rail sizes}"},
		{
			Table: answer.Show(&directorTable, func(s structure) answer.Rows[director] {
				return answer.Slice(s.directors())
			}),
		},
		{Line: fmt.Sprintf("{?cages}cages\t{cages|switch} of %d planes", classify.CagePlanes)},
		{
			Table: answer.Show(&anomalyTable, func(s structure) answer.Rows[anomaly] {
				return answer.Slice(s.anomalies())
			}),
		},
		parts("groups", func(s *classify.Structure) classify.Parts { return s.Groups }),
		parts("pods", func(s *classify.Structure) classify.Parts { return s.Pods }),
		parts("planes", func(s *classify.Structure) classify.Parts { return s.Planes }),
		{
			When: hiddenInText, Table: answer.Show(&railTable, func(s structure) answer.Rows[rail] {
				return answer.Slice(s.rails())
			}),
		},
		{
			When: hiddenInText, Table: answer.Show(&cageTable, func(s structure) answer.Rows[cage] {
				return answer.Slice(s.cages())
			}),
		},
		{
			When: hiddenInText, Table: answer.Show(&switchTable, func(s structure) answer.Rows[position] {
				return answer.Slice(s.switches())
			}),
		},
	},
}

// hiddenInText is a value for the field When. It excludes a table from text, because a line of text summarizes the
// table.
func hiddenInText(structure) bool { return false }

func parts(key string, of func(*classify.Structure) classify.Parts) answer.Item[structure] {
	table := &answer.Table[part]{Key: key, Title: key, Fields: answer.Fields[part]()}
	return answer.Item[structure]{When: hiddenInText, Table: answer.Show(table, func(s structure) answer.Rows[part] {
		var all []part
		if p := of(s.of); p.Has() {
			for i, members := range p.Members() {
				all = append(all, part{i + 1, s.list(members)})
			}
		}
		return answer.Slice(all)
	})}
}

func run(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks), describe(c.Session.Analysis().Structure(p.Fabric))))
}

func describe(s *classify.Structure) structure {
	a := structure{
		Structure: s.Title(), Shape: s.Shape.String(), of: s, Adapters: s.Nodes.Adapters,
		Aggregate: s.Nodes.Aggregation, Routers: s.Nodes.Routers,
		Hosts: s.Nodes.Hosts[classify.KindHost], Storage: s.Nodes.Hosts[classify.KindStorage],
		Gateways: s.Nodes.Hosts[classify.KindGateway], Service: s.Nodes.Hosts[classify.KindService],
		GroupSizes: sizes(s.Groups), PodSizes: sizes(s.Pods), PlaneSizes: sizes(s.Planes),
	}
	a.Nodes = a.nodes()
	if s.Grid != nil {
		a.Dimensions = answer.Ints(s.Grid.Dims)
	}
	if len(s.Rails.Names) > 0 {
		a.RailsBy = answer.Text(prose.When(s.Rails.ByCabling, "cabling", "number"))
		each := prose.Words(a.rails(), func(r rail) string {
			return fmt.Sprintf("%s: %d ports on %s", r.Name, r.Ports, prose.Count(r.Leaves, "leaf switch"))
		})
		a.RailSizes = answer.Text(prose.When(s.Rails.ByCabling, "cabling", "number of the adapter") + ": " +
			strings.Join(each, "; "))
	}
	if len(s.Cages) > 0 {
		a.Cages = answer.Int(len(s.Cages))
	}
	return a
}

// nodes returns a text with the numbers of nodes by role.
func (s *structure) nodes() string {
	words := []string{prose.Count(s.Hosts, "host")}
	if s.Adapters != s.Hosts+s.Storage+s.Service+s.Gateways {
		words = append(words, prose.Count(s.Adapters, "channel adapter")+" in total")
	}
	for _, more := range []struct {
		n    int
		noun string
	}{{s.Storage, "storage node"}, {s.Service, "service node"}, {s.Gateways, "gateway"}, {s.Routers, "router"},
		{s.Aggregate, "aggregation node"}} {
		if more.n > 0 {
			words = append(words, prose.Count(more.n, more.noun))
		}
	}
	return strings.Join(words, ", ")
}

// sizes returns a text with the number of parts and the number of switches in each, such as "2, of 16 to 18 switches".
func sizes(p classify.Parts) answer.Value {
	if !p.Has() {
		return answer.None()
	}
	var of []int
	for _, members := range p.Members() {
		of = append(of, len(members))
	}
	low, high := slices.Min(of), slices.Max(of)
	return answer.Text(fmt.Sprintf("%d, of %s%s", len(of), prose.When(low == high, "", fmt.Sprintf("%d to ", low)),
		prose.Count(high, "switch")))
}

// list returns switches as places.
func (s *structure) list(switches []fabric.SwitchIndex) answer.Value {
	nodes := make([]answer.Value, len(switches))
	for i, sw := range switches {
		nodes[i] = answer.Node(s.of.Fabric, s.of.Fabric.Switches[sw])
	}
	return answer.List(nodes)
}

// tiers returns the tiers, highest first.
func (s *structure) tiers() []tier {
	var all []tier
	for i, switches := range s.of.Tiers() {
		t := tier{Tier: i, Name: fmt.Sprintf("tier %d", i), Switches: len(switches)}
		for _, sw := range switches {
			t.Hosts += s.of.Switches[sw].Hosts
		}
		all = append(all, t)
	}
	if len(all) > 0 {
		all[0].Name = prose.When(len(all) == 1, "switches", "leaves")
	}
	slices.Reverse(all)
	return all
}

func (s *structure) rails() []rail {
	var all []rail
	for i, name := range s.of.Rails.Names {
		all = append(all, rail{name, s.of.Rails.Leaves[i], s.of.Rails.Ports[i]})
	}
	return all
}

func (s *structure) directors() []director {
	var all []director
	for _, d := range s.of.Directors {
		all = append(all, director{d.Name, len(d.Leaves), len(d.Spines), s.list(d.Leaves), s.list(d.Spines)})
	}
	return all
}

func (s *structure) cages() []cage {
	var all []cage
	for _, c := range s.of.Cages {
		all = append(all, cage{c.Name, s.list(c.Planes)})
	}
	return all
}

func (s *structure) anomalies() []anomaly {
	var all []anomaly
	for _, o := range s.of.Anomalies {
		all = append(all, anomaly{answer.Node(s.of.Fabric, o.Node), o.What, feature.ToNode(s.of.Fabric, o.Node)})
	}
	return all
}

// boards returns, for each switch that is part of a director or of a switch of several planes, the name of its board.
func (s *structure) boards() map[fabric.SwitchIndex]string {
	board := map[fabric.SwitchIndex]string{}
	for _, d := range s.of.Directors {
		for _, b := range d.Leaves {
			board[b] = d.Name + " leaf"
		}
		for _, b := range d.Spines {
			board[b] = d.Name + " spine"
		}
	}
	for _, c := range s.of.Cages {
		for i, sw := range c.Planes {
			board[sw] = fmt.Sprintf("%s plane %d", c.Name, i+1)
		}
	}
	return board
}

// switches returns the position of each switch in the structure.
func (s *structure) switches() []position {
	f, board, height := s.of.Fabric, s.boards(), s.of.Heights()
	number := func(p classify.Parts, sw int) answer.Value {
		if p.Of[sw] == classify.None {
			return answer.None()
		}
		return answer.Int(p.Of[sw] + 1)
	}
	var all []position
	for i, n := range f.Switches {
		if !f.Nodes[n].InSubnet {
			continue
		}
		sw := fabric.SwitchIndex(i)
		p := position{
			Switch: answer.Node(f, n), Tier: height[i], Pod: number(s.of.Pods, i), Plane: number(s.of.Planes, i),
			Group: number(s.of.Groups, i),
			At:    answer.Optional(s.of.Coordinates(sw)), Board: answer.Optional(board[sw]),
			Hosts: s.of.Switches[i].Hosts,
			Links: s.of.Switches[i].Degree,
			lead:  feature.ToNode(f, n),
		}
		if r := s.of.Rails.Of[i]; r != classify.None {
			p.Rail = answer.Text(s.of.Rails.Names[r])
		}
		all = append(all, p)
	}
	return all
}

// hints is the answer with the number of hints and their file. File is None after "hints off".
type hints struct {
	Hints int          `key:"hints"`
	File  answer.Value `key:"file" kind:"text"`
	Text  string       `name:"text"`
}

var hintsDecl = answer.Decl[hints]{Command: "hints", Help: "the hints in use", Facts: answer.Fields[hints](),
	Layout: []answer.Item[hints]{{Line: "{text}"}}}

func runHints(c *feature.Call) error {
	h := hints{Text: "no hints: the structure follows from names and cabling"}
	if c.Arg(0) == offWord {
		c.Session.SetHints(nil)
	} else {
		read, err := files.Parse(c.Ctx, c.Arg(0), files.Config, classify.ReadHints)
		if err != nil {
			return err
		}
		c.Session.SetHints(read)
		h = hints{
			len(read.All), answer.Text(c.Arg(0)), fmt.Sprintf("%s from %s (show structure)",
				prose.Count(len(read.All), "hint"), fabric.Escape(c.Arg(0))),
		}
	}
	st := c.Session.State()
	return c.Answer(hintsDecl.Answer(st.Basis(st.Default(), 0), h))
}
