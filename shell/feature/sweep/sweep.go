// SPDX-License-Identifier: Apache-2.0

// Package sweep reads the subnet, and reads the names of nodes from a file.
package sweep

import (
	"context"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const lightWord = "light"

// Feature has the commands sweep and names.
var Feature = feature.Feature{Name: "sweep", Keys: []feature.Key{
	{Name: "sweep", Keys: "R", Help: "read the subnet again"},
}, Commands: []feature.Command{
	{
		Path: "sweep", Group: feature.GroupLook, Summary: "Read the subnet again",
		Help: "sweep reads nodes, links, LIDs and forwarding tables. sweep light reads only parts that may have " +
			"changed.",
		Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"full", lightWord}, Optional: true}},
		Options: []lang.Option{
			{
				Name: "sl2vl", Kind: lang.KindFlag, Summary: "also read SL2VL tables, now and at later sweeps " +
					"(ports x ports MADs per switch)",
			},
			{Name: "mft", Kind: lang.KindFlag, Summary: "also read multicast tables, now and at later sweeps"},
			{
				Name: "sl", Kind: lang.KindFlag, Summary: "also read the service levels of paths from the SA, valid " +
					"until the tables change",
			},
			{
				Name: "vlarb", Kind: lang.KindFlag, Summary: "also read the VL arbitration tables of linked ports, " +
					"now and at later sweeps",
			},
			{
				Name: "adaptive", Kind: lang.KindFlag, Summary: "also read adaptive routing of NVIDIA's switches, " +
					"now and at later sweeps (not tested on hardware)",
			},
			{
				Name: "pkeys", Kind: lang.KindFlag, Summary: "also read the P_Keys of all ports for path records, " +
					"now and at later sweeps",
			},
		},
		Examples: []string{"sweep full; show events", "sweep full sl2vl mft"},
		Answers:  []answer.Declared{&decl},
		Run:      sweep,
	},
	{
		Path: "names", Group: feature.GroupFiles, Summary: "Read node names from a node-name map",
		Args: []lang.Arg{{Kind: lang.KindFile}},
		Examples: []string{
			"names ib-node-name-map",
			"names ib-node-name-map; show nodes",
		},
		Answers: []answer.Declared{namesDecl},
		Run:     names,
	},
}}

// Command is the name of the command that reads the subnet.
const Command = "sweep"

// swept is the result of a sweep.
type swept struct {
	Nodes    int           `key:"nodes" name:"nodes"`
	Switches int           `key:"switches" name:"switches"`
	Links    int           `key:"links" name:"links"`
	Took     time.Duration `key:"seconds" name:"took"`
	MADs     int           `key:"mads" name:"MADs"`
	Changed  *bool         `key:"changed" help:"nodes, links or LIDs changed; none at the first sweep"`
	Moved    int           `key:"moved" help:"changed entries of forwarding tables"`
	Unread   int           `key:"unread" help:"switches without a comparison, as their tables were not read"`
	What     string        `name:"what"`

	unanswered []string
}

// open is a row of the table: requests that got no response.
type open struct {
	Why string `key:"why" name:"REASON"`
}

var openTable = answer.Table[open]{
	Key: "unanswered", Title: "unanswered", Fields: answer.Fields[open](), Row: "  unanswered: {why}", MaxRows: 20,
}

var decl = answer.Decl[*swept]{
	Command: Command, Help: "the result of the sweep", Facts: answer.Fields[*swept](), Action: true,
	Title: "sweep of {of}: {nodes|node}, {switches|switch}, {links|link} in {seconds} ({mads} MADs); {what}",
	Layout: []answer.Item[*swept]{{Table: answer.Show(&openTable, func(s *swept) answer.Rows[open] {
		return answer.Lazy(len(s.unanswered), func(i int) open { return open{s.unanswered[i]} })
	})}},
}

// Reads returns the additional attributes that the options of a sweep command select.
func Reads(v *lang.Invocation) session.Reads {
	return session.Reads{
		SL2VL: v.Flag("sl2vl"), MFT: v.Flag("mft"), PKeys: v.Flag("pkeys"), VLArb: v.Flag("vlarb"),
		Adaptive: v.Flag("adaptive"), SLs: v.Flag("sl"),
	}
}

// First returns the additional attributes of a full sweep. It returns nil if the command is not a full sweep.
func First(v *lang.Invocation) *session.Reads {
	if v.Command != Command || v.Arg(0) == lightWord {
		return nil
	}
	reads := Reads(v)
	return &reads
}

func sweep(c *feature.Call) error {
	read := prose.When(c.Arg(0) == lightWord, c.Session.SweepLight, c.Session.Sweep)
	if more := Reads(c.Invocation); more != (session.Reads{}) {
		read = func(ctx context.Context) (session.SweepReport, error) { return c.Session.SweepFor(ctx, more) }
	}
	rep, err := read(c.Ctx)
	if err != nil {
		return err
	}
	s := &swept{
		Nodes: rep.Nodes, Switches: rep.Switches, Links: rep.Links, Took: rep.Took, MADs: int(rep.MADs),
		Moved: rep.Moved, Unread: rep.Unread, What: "first sweep", unanswered: rep.Unanswered,
	}
	if !rep.First {
		s.Changed, s.What = &rep.Changed, prose.When(rep.Changed, "changed", "unchanged")
	}
	if rep.Moved > 0 {
		s.What += ", " + prose.Count(rep.Moved, "entry") + " of forwarding tables changed" +
			diff.NotCompared(rep.Unread)
	}
	st := c.Session.State()
	b := st.Basis(st.Live, session.NeedLinks|session.NeedTables)
	b.Warnings = append(b.Warnings, rep.Warnings...)
	return c.Answer(decl.Answer(b, s))
}

// named is the answer with the number of nodes that have a name in the map.
type named struct {
	Nodes int    `key:"named" name:"named"`
	File  string `key:"file" name:"file"`
}

var namesDecl = feature.OneLine[named]("names", "the number of nodes with a name in the map",
	"read names of {named|node} from {file}")

func names(c *feature.Call) error {
	n, err := c.Session.LoadNames(c.Ctx, c.Arg(0))
	if err != nil {
		return err
	}
	st := c.Session.State()
	return c.Answer(namesDecl.Answer(st.SourceBasis(), named{n, c.Arg(0)}))
}
