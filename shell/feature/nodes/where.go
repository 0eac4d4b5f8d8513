// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

var whereCommand = feature.Command{
	Path:    "show where",
	Summary: "Show a node or port, and the directed route to it",
	Help: "PLACE is the name of a node, NAME/PORT, a LID, a GUID, a GID, node:0xN (a node GUID), or a directed route " +
		"such as\ndr:0,1,10,19 (0, and then the port of exit on each node).\nA directed route begins at this " +
		"program, or at the node that from=NODE names. The answer lists the links of a given\nroute, or of a " +
		"shortest route to PLACE.",
	Args: []lang.Arg{{Name: "PLACE", Kind: lang.KindPlace}},
	Options: []lang.Option{{Name: "from", Kind: lang.KindNode, Value: "NODE",
		Summary: "node at which the route begins (default the node of this program)"}},
	Examples: []string{"show where node-0001", "show where dr:0,1,3 from=node-0002"},
	Answers:  []answer.Declared{&whereDecl},
	Run:      runWhere,
}

// where is a place with a directed route to it.
type where struct {
	f     *fabric.Fabric
	from  fabric.NodeIndex // [fabric.None] if unknown
	node  fabric.NodeIndex
	port  fabric.PortIndex // [fabric.None] for a node without a named port
	lid   uint16           // 0 if unknown
	hops  []places.Hop
	route string // "" if there is none
}

// hop is a row of the table.
type hop struct {
	f  *fabric.Fabric
	at int
	places.Hop
}

var hopTable = answer.Table[hop]{
	Key: "links", Title: "links of the route",
	Fields: []answer.Field[hop]{
		answer.IntField("link", "LINK", "number of the link on the route, from 1", func(h hop) int { return h.at + 1 }),
		{Key: "out", Name: "OUT", Kind: answer.KindPlace, Help: "port of exit",
			Value: func(h hop) answer.Value { return answer.Port(h.f, h.Out) }},
		{Key: "in", Name: "IN", Kind: answer.KindPlace, Help: "port at the other end of the link",
			Value: func(h hop) answer.Value { return answer.Port(h.f, h.In) }},
	},
	Lead: func(h hop) answer.Lead { return feature.ToPort(h.f, h.In) },
}

var whereDecl = answer.Decl[where]{
	Command: "show where", Help: "a node or port, and a directed route to it", Title: "{place}, {of}",
	Facts: []answer.Field[where]{
		{Key: "place", Name: "place", Kind: answer.KindPlace, Value: func(w where) answer.Value {
			if w.port != fabric.None {
				return answer.Port(w.f, w.port)
			}
			return answer.Node(w.f, w.node)
		}},
		{Key: "type", Name: "type", Kind: answer.KindText, Help: "switch, ca or router",
			Value: func(w where) answer.Value { return answer.Text(feature.TypeWord(w.f.Nodes[w.node].Type)) }},
		{Key: "node_guid", Name: "node GUID", Kind: answer.KindGUID,
			Value: func(w where) answer.Value { return answer.GUID(w.f.Nodes[w.node].GUID) }},
		{Key: "port_guid", Name: "port GUID", Kind: answer.KindGUID, Value: func(w where) answer.Value {
			if w.port == fabric.None || w.f.Ports[w.f.EndPortOf(w.port)].GUID == 0 {
				return answer.None()
			}
			return answer.GUID(w.f.Ports[w.f.EndPortOf(w.port)].GUID)
		}},
		{Key: "lid", Name: "LID", Kind: answer.KindLID, Value: func(w where) answer.Value { return answer.LID(w.lid) }},
		{Key: "route", Name: "directed route", Kind: answer.KindText, Value: func(w where) answer.Value {
			return answer.Optional(w.route)
		}},
		{Key: "from", Name: "from", Kind: answer.KindPlace, Help: "node at which the route begins",
			Value: func(w where) answer.Value {
				if w.from == fabric.None {
					return answer.None()
				}
				return answer.Node(w.f, w.from)
			}},
	},
	Layout: []answer.Item[where]{
		{Line: "  type            {type}"},
		{Line: "  node GUID       {node_guid}"},
		{Line: "{?port_guid}  port GUID       {port_guid}"},
		{Line: "  LID             {lid|#}"},
		{Line: "{?route}  directed route  {route} from {from}"},
		{Line: "  no links connect it with the node of this program",
			When: func(w where) bool { return w.route == "" && w.from != fabric.None }},
		{Table: answer.Show(&hopTable, func(w where) answer.Rows[hop] {
			return answer.Lazy(len(w.hops), func(i int) hop { return hop{w.f, i, w.hops[i]} })
		}), When: func(w where) bool { return len(w.hops) > 0 }},
	},
}

func runWhere(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	f := p.Fabric
	w := where{f: f, from: fabric.None}
	if f.SMPort != fabric.None {
		w.from = f.Ports[f.SMPort].Node
	}
	if name := c.Option("from", ""); name != "" {
		if w.from, err = places.ResolveNode(f, name); err != nil {
			return err
		}
	}
	if text, ok := strings.CutPrefix(c.Arg(0), "dr:"); ok {
		err = w.follow(text)
	} else {
		err = w.find(c.Arg(0))
	}
	if err != nil {
		return err
	}
	return c.Answer(whereDecl.Answer(st.Basis(p, session.NeedLinks), w))
}

// follow takes the end of a directed route as the place.
func (w *where) follow(text string) error {
	route, err := places.ParseDirected(text)
	if err != nil {
		return err
	}
	if w.from == fabric.None {
		return fmt.Errorf("dr:%s: the node of this program is unknown; hint: name a node with from=NODE", text)
	}
	if w.hops, err = places.FollowDirected(w.f, w.from, route); err != nil {
		return fmt.Errorf("dr:%s from %s: %w", text, w.f.NodeName(w.from), err)
	}
	w.node, w.port, w.route = w.from, fabric.None, places.DirectedText(w.hops, w.f)
	if n := len(w.hops); n > 0 {
		w.port = w.hops[n-1].In
		w.node = w.f.Ports[w.port].Node
		w.lid = w.f.LIDOf(w.f.EndPortOf(w.port))
	} else {
		w.lid = feature.NodeLID(w.f, &w.f.Nodes[w.node])
	}
	return nil
}

// find finds a place and a shortest directed route to its node.
func (w *where) find(text string) error {
	at, err := places.Resolve(w.f, text)
	if err != nil {
		return err
	}
	w.node, w.port, w.lid = at.Node, fabric.None, at.LID
	if at.PortNamed {
		w.port = at.Port
	}
	if w.from == fabric.None {
		return nil
	}
	if hops, ok := places.FindDirected(w.f, w.from, w.node); ok {
		w.hops, w.route = hops, places.DirectedText(hops, w.f)
	}
	return nil
}
