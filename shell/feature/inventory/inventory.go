// SPDX-License-Identifier: Apache-2.0

// Package inventory lists the hardware of a subnet: models, firmware, part and serial numbers, fans, power supplies and
// temperatures.
package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// The words that select nodes.
const (
	allWord     = "all"
	genericWord = "generic"
)

// Feature is the command inventory.
var Feature = feature.Feature{Name: "inventory", Commands: []feature.Command{{
	Path:    "inventory",
	Group:   feature.GroupLook,
	Summary: "List models, firmware, parts, fans and power supplies",
	Help: "Without an argument, the command counts models and cable parts.\n" +
		"inventory NODE shows one node, inventory all lists all nodes, and inventory generic lists the hosts whose " +
		"descriptions\nname no host, with their switch ports.\n" +
		"A subnet reports only descriptions, device IDs and revisions. All other data come from an ibdiagnet folder.",
	Args:     []lang.Arg{{Name: "NODE", Kind: lang.KindNode, Words: []string{allWord, genericWord}, Optional: true}},
	Options:  []lang.Option{feature.OfOption()},
	Examples: []string{"inventory", "inventory leaf-01", "inventory generic"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// inventory is the value of the answer.
type inventory struct {
	f      *fabric.Fabric
	health *health.Report
	nodes  []fabric.NodeIndex
	listed bool // in the text
	parts  []problems.Part
}

// node is a row of the table of nodes.
type node struct {
	*inventory
	at fabric.NodeIndex
}

func (n node) of() *fabric.Node { return &n.f.Nodes[n.at] }

// model is a row of the table of models: the nodes that have everything but the serial number in common.
type model struct {
	Type     string       `key:"type" name:"TYPE" help:"switch, ca or router"`
	Model    answer.Value `key:"model" name:"MODEL" kind:"text" help:"product name, or the name of the device"`
	Vendor   answer.Value `key:"vendor_id" kind:"text" help:"of the node"`
	Device   answer.Value `key:"device_id" name:"DEVICE" kind:"int" help:"of the node"`
	HW       answer.Value `key:"hardware_revision" name:"REV" kind:"int" help:"hardware revision of the device"`
	device   uint16
	Part     answer.Value `key:"part" name:"PART" kind:"text" help:"part number"`
	PSID     answer.Value `key:"psid" name:"PSID" kind:"text" help:"identifies the board and its configuration"`
	Firmware answer.Value `key:"firmware" name:"FIRMWARE" kind:"text"`
	Nodes    int          `key:"nodes" name:"NODES"`
}

// cable is a row of the table of cable parts.
type cable struct {
	Vendor string       `key:"vendor" name:"VENDOR"`
	Part   string       `key:"part" name:"CABLE PART"`
	Cables int          `key:"cables" name:"CABLES"`
	Errors answer.Value `key:"with_errors" name:"WITH ERRORS" kind:"int" help:"cables with errors"`
}

// sensor is a row of the table of temperature sensors.
type sensor struct {
	Node    answer.Value `key:"node" name:"NODE" kind:"place"`
	Index   int          `key:"sensor" name:"SENSOR"`
	Celsius answer.Value `key:"temperature" name:"CELSIUS" unit:"C" kind:"float"`
	Highest answer.Value `key:"highest" name:"HIGHEST" unit:"C" kind:"float" help:"highest temperature so far"`
}

// fan is a row of the table of fans.
type fan struct {
	Node  answer.Value `key:"node" name:"NODE" kind:"place"`
	Index int          `key:"fan" name:"FAN"`
	RPM   answer.Value `key:"rpm" name:"RPM" unit:"rpm" kind:"float"`
	Min   answer.Value `key:"least" name:"LEAST" unit:"rpm" kind:"float" help:"lowest permitted speed"`
	Max   answer.Value `key:"most" name:"MOST" unit:"rpm" kind:"float" help:"highest permitted speed"`
}

// supply is a row of the table of power supplies.
type supply struct {
	Node   answer.Value `key:"node" name:"NODE" kind:"place"`
	Index  int          `key:"supply" name:"SUPPLY"`
	Serial answer.Value `key:"serial" name:"SERIAL" kind:"text"`
	State  string       `key:"state" name:"STATE" help:"ok, or its faults"`
}

var (
	modelTable = answer.Table[model]{Key: "models", Title: "models", Fields: answer.Fields[model]()}
	cableTable = answer.Table[cable]{Key: "cable_parts", Title: "cable parts", Fields: answer.Fields[cable]()}
	nodeTable  = answer.Table[node]{
		Key: "nodes", Title: "nodes", Stream: true,
		Fields: []answer.Field[node]{
			answer.PlaceField("node", "NODE", "", func(n node) answer.Value { return answer.Node(n.f, n.at) }),
			answer.TextField("type", "TYPE", "switch, ca or router", func(n node) string {
				return feature.TypeWord(n.of().Type)
			}),
			answer.PlaceField("attached_to", "AT", "port at the other end of its first link", attached),
			answer.TextField("description", "DESCRIPTION", "from the node", func(n node) string {
				return strings.TrimSpace(n.of().Desc)
			}),
			answer.FieldOf(answer.KindText, "model", "MODEL", "product name, or the name of the device",
				func(n node) answer.Value { return n.model() }),
			answer.FieldOf(answer.KindInt, "device_id", "DEVICE", "", func(n node) answer.Value {
				return deviceID(n.of().DeviceID)
			}),
			answer.FieldOf(answer.KindInt, "hardware_revision", "REV", "hardware revision of the device",
				func(n node) answer.Value { return revision(n.of().Revision, n.of().NoRevision) }),
			hardwareText("part", "PART", "part number", func(n *health.Node) string { return n.Part }),
			hardwareText("serial", "SERIAL", "serial number", func(n *health.Node) string { return n.Serial }),
			hardwareText("psid", "PSID", "identifies the board and its configuration", func(n *health.Node) string {
				return n.PSID
			}),
			hardwareText("firmware", "FIRMWARE", "", func(n *health.Node) string { return n.Firmware }),
			{Key: "temperature", Name: "CELSIUS", Unit: "C", Kind: answer.KindFloat, Help: "of the hottest sensor",
				Value: func(n node) answer.Value { return level(n.hardware().Hottest()) }},
			answer.BoolField("generic", "", "the description does not name a host", func(n node) bool {
				return n.f.IsGeneric(n.at)
			}),
		},
		Lead: func(n node) answer.Lead { return feature.ToNode(n.f, n.at) },
		ID:   func(n node) uint64 { return n.of().GUID },
	}
	sensorTable = answer.Table[sensor]{Key: "sensors", Title: "temperatures", Fields: answer.Fields[sensor]()}
	fanTable    = answer.Table[fan]{Key: "fans", Title: "fans", Fields: answer.Fields[fan]()}
	supplyTable = answer.Table[supply]{Key: "supplies", Title: "power supplies", Fields: answer.Fields[supply]()}
)

var decl = answer.Decl[*inventory]{
	Command: "inventory", Help: "the hardware of a subnet",
	Facts: []answer.Field[*inventory]{
		answer.IntField("count", "nodes", "number of selected nodes", func(v *inventory) int { return len(v.nodes) }),
		answer.IntField("generic", "hosts with a generic description", "", (*inventory).generic),
	},
	Layout: []answer.Item[*inventory]{
		{When: isSummary, Table: answer.Show(&modelTable, func(v *inventory) answer.Rows[model] {
			return answer.Slice(v.models())
		})},
		{When: func(v *inventory) bool { return isSummary(v) && len(v.parts) > 0 },
			Table: answer.Show(&cableTable, func(v *inventory) answer.Rows[cable] { return answer.Slice(v.cables()) })},
		{When: func(v *inventory) bool { return v.listed }, Table: answer.Show(&nodeTable,
			func(v *inventory) answer.Rows[node] {
				return answer.Lazy(len(v.nodes), func(i int) node { return node{v, v.nodes[i]} })
			})},
		ofNode(&sensorTable, func(n node, h *health.Node) (rows []sensor) {
			for _, s := range h.Sensors {
				rows = append(rows, sensor{answer.Node(n.f, n.at), s.Index, level(s.Celsius), level(s.Highest)})
			}
			return rows
		}),
		ofNode(&fanTable, func(n node, h *health.Node) (rows []fan) {
			for _, f := range h.Fans {
				rows = append(rows, fan{answer.Node(n.f, n.at), f.Index, level(f.RPM), level(f.Min), level(f.Max)})
			}
			return rows
		}),
		ofNode(&supplyTable, func(n node, h *health.Node) (rows []supply) {
			for _, s := range h.Supplies {
				rows = append(rows, supply{answer.Node(n.f, n.at), s.Index, answer.Optional(s.Serial),
					cmp.Or(problems.SupplyFaultOf(&s), "ok")})
			}
			return rows
		}),
		{When: func(v *inventory) bool { return isSummary(v) && v.generic() > 0 },
			Line: "{generic|host} with a generic description; hint: run 'inventory generic'"},
	},
}

func isSummary(v *inventory) bool { return !v.listed }

// ofNode declares a table of parts of the selected nodes. The text has the table for a single node.
func ofNode[R any](table *answer.Table[R], rows func(n node, h *health.Node) []R) answer.Item[*inventory] {
	all := func(v *inventory) (list []R) {
		for _, at := range v.nodes {
			if h := v.health.NodeAt(at); h != nil {
				list = append(list, rows(node{v, at}, h)...)
			}
		}
		return list
	}
	return answer.Item[*inventory]{
		When:  func(v *inventory) bool { return len(v.nodes) == 1 && len(all(v)) > 0 },
		Table: answer.Show(table, func(v *inventory) answer.Rows[R] { return answer.Slice(all(v)) }),
	}
}

func run(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	v := &inventory{f: p.Fabric, health: p.Health, listed: len(c.Args) > 0}
	only := fabric.NodeIndex(fabric.None)
	generic := false
	switch word := c.Arg(0); {
	case word == "", word == allWord:
	case word == genericWord:
		generic = true
	default:
		if only, err = places.ResolveNode(p.Fabric, word); err != nil {
			return err
		}
	}
	for i := range p.Fabric.NumNodes() {
		if (only == fabric.None || i == only) && (!generic || p.Fabric.IsGeneric(i)) {
			v.nodes = append(v.nodes, i)
		}
	}
	v.parts = problems.PartsOf(p.Fabric, p.Health, st.Read)
	basis := st.Basis(p, session.NeedLinks)
	if !p.Health.HasNodes() && len(v.nodes) > 0 {
		basis.Unread.Note("firmware and part number", "only an ibdiagnet folder has them", len(v.nodes), answer.Place{})
	}
	for _, at := range v.nodes {
		if p.Health.HasNodes() && (node{v, at}).hardware().Firmware == "" {
			place, _ := answer.Node(p.Fabric, at).Place()
			basis.Unread.Note("firmware version", "not in the ibdiagnet folder", 1, place)
		}
	}
	return c.Answer(decl.Answer(basis, v))
}

func (v *inventory) generic() int {
	n := 0
	for _, at := range v.nodes {
		if v.f.IsGeneric(at) {
			n++
		}
	}
	return n
}

// models counts the nodes of each model, the switches first.
func (v *inventory) models() []model {
	type key struct {
		kind, name, part, psid, firmware string
		vendor, revision                 uint32
		noRevision                       bool
		device                           uint16
	}
	counts := map[key]int{}
	for _, at := range v.nodes {
		n := node{v, at}
		h := n.hardware()
		counts[key{feature.TypeWord(n.of().Type), cmp.Or(h.Product, n.of().Model()), h.Part, h.PSID, h.Firmware,
			n.of().VendorID, n.of().Revision, n.of().NoRevision, n.of().DeviceID}]++
	}
	var rows []model
	for k, count := range counts {
		rows = append(rows, model{k.kind, answer.Optional(k.name), feature.VendorID(k.vendor), deviceID(k.device),
			revision(k.revision, k.noRevision), k.device, v.text(k.part), v.text(k.psid), v.text(k.firmware), count})
	}
	slices.SortFunc(rows, func(a, b model) int {
		return cmp.Or(-cmp.Compare(a.Type, b.Type), cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.device, b.device),
			cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return rows
}

func (v *inventory) cables() []cable {
	rows := make([]cable, len(v.parts))
	for i, p := range v.parts {
		rows[i] = cable{p.Vendor, p.Number, p.Cables, answer.Int(p.Bad)}
		if !p.Judged {
			rows[i].Errors = answer.NotRead()
		}
	}
	return rows
}

// text returns a text of the hardware.
func (v *inventory) text(text string) answer.Value {
	if text == "" {
		return answer.NotRead()
	}
	return answer.Text(text)
}

// hardware returns the data of the hardware, empty if they were not read.
func (n node) hardware() *health.Node {
	if h := n.health.NodeAt(n.at); h != nil {
		return h
	}
	return &health.Node{}
}

func (n node) model() answer.Value {
	return answer.Optional(cmp.Or(n.hardware().Product, n.of().Model()))
}

func hardwareText(key, name, help string, value func(*health.Node) string) answer.Field[node] {
	return answer.FieldOf(answer.KindText, key, name, help, func(n node) answer.Value {
		return n.text(value(n.hardware()))
	})
}

func attached(n node) answer.Value {
	for p := range n.of().Ports() {
		if peer := n.f.Ports[p].Peer; peer != fabric.None && !n.of().IsSwitch() {
			return answer.Port(n.f, peer)
		}
	}
	return answer.None()
}

// deviceID returns a device ID. Files without it leave 0.
func deviceID(id uint16) answer.Value {
	if id == 0 {
		return answer.NotRead()
	}
	return answer.Int(id)
}

func revision(number uint32, unread bool) answer.Value {
	if unread {
		return answer.NotRead()
	}
	return answer.Int(number)
}

// level returns a temperature or a speed.
func level(l health.Level) answer.Value { return feature.Level(l, 0) }
