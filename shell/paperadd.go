// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"strconv"

	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/lang"
)

const addHelp = "What is added is there on paper alone, as after fail. route makes the tables that OpenSM makes when it comes: LIDs stay, new nodes get\n" +
	"the lowest free ones, and all routes are computed anew. route keep=yes keeps those that are still among the shortest, route incremental\n" +
	"all that lead somewhere. Where several are equal, OpenSM goes by the order of GUIDs: guid= says that of the node that will come."

func addCommands() []Spec {
	guid := lang.Option{Name: "guid", Kind: lang.KindGUID, Summary: "its node GUID; the one behind the highest of its kind where it is not given"}
	ports := lang.Option{Name: "ports", Kind: lang.KindInt, Summary: "how many ports it has; as many as the largest switch that is there"}
	cable := func(name string) lang.Arg { return lang.Arg{Name: name, Kind: lang.KindPlace} }
	return []Spec{
		{Name: "add", Summary: "add a cable, a switch or an adapter on paper", Help: addHelp, Subcommands: []Spec{
			{Name: "link", Summary: "add a cable between two ports: add link leaf-01/37 spine-02/40", Help: addHelp, Run: runAddLink,
				Args: []lang.Arg{cable("NODE/PORT"), cable("NODE/PORT")}},
			{Name: "switch", Summary: "add a switch, whose ports from 1 up are cabled to ports: add switch spine-19 leaf-01/37 leaf-02/37", Help: addHelp, Run: addNode(mad.NodeSwitch),
				Args: []lang.Arg{{Name: "NAME"}, {Name: "NODE/PORT", Kind: lang.KindPlace, Optional: true, Repeat: true}}, Options: []lang.Option{guid, ports}},
			{Name: "node", Summary: "add an adapter, whose ports from 1 up are cabled to ports: add node \"node-0649 HCA-1\" leaf-01/37", Help: addHelp, Run: addNode(mad.NodeCA),
				Args: []lang.Arg{{Name: "NAME"}, {Name: "NODE/PORT", Kind: lang.KindPlace, Repeat: true}}, Options: []lang.Option{guid}},
		}},
		{Name: "move", Summary: "plug a cable into another port on paper", Subcommands: []Spec{
			{Name: "node", Summary: "move an adapter, which keeps its LID, or another end of a cable: move node \"node-0001 HCA-1\" leaf-02/37", Run: runMove,
				Args: []lang.Arg{cable("NODE"), cable("NODE/PORT")}},
		}},
	}
}

func (c *call) add(state string, find failures.Finder) error {
	added, err := c.session.Add(c.ctx, find)
	if err != nil {
		return c.feature().Misnamed(err)
	}
	return c.failures(state, added...)
}

func runAddLink(c *call) error {
	return c.add("added", failures.AddLink(c.Arg(0), c.Arg(1)))
}

// addNode adds a node of a type.
func addNode(kind mad.NodeType) func(*call) error {
	return func(c *call) error {
		n := failures.NewNode{Type: kind, Name: c.Arg(0), At: c.Args[1:], Ports: c.Int("ports", 0)}
		if n.Name == "" {
			return c.Misused("a node without a name")
		}
		if given := c.Option("guid", ""); given != "" {
			var err error
			if n.GUID, err = strconv.ParseUint(given, 0, 64); err != nil || n.GUID == 0 {
				return c.Misused("%q is no GUID", given)
			}
		}
		return c.add("added", failures.Add(n))
	}
}

func runMove(c *call) error {
	return c.add("moved", failures.Move(c.Arg(0), c.Arg(1)))
}
