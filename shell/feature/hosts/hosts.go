// SPDX-License-Identifier: Apache-2.0

// Package hosts names sets of hosts and shows the traffic among them.
package hosts

import (
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature is the command hosts.
var Feature = feature.Feature{Name: "hosts", Keys: []feature.Key{
	{Name: "hosts", Keys: "H", Help: "name the marked hosts, or all that the filter shows: /@NAME shows them, :hosts " +
		"NAME lists their traffic"},
}, Commands: []feature.Command{{
	Path:    "hosts",
	Group:   feature.GroupLook,
	Summary: "Name a set of hosts, or show the traffic among them",
	Help: "hosts NAME WHO   name a set. WHO is a host, a host list of Slurm (node[0001-0064]), or a switch for its " +
		"hosts.\n                 Simulated failures do not remove hosts from a set\nhosts NAME       show the " +
		"members, the links of their paths, other traffic on these links, and lost paths\nhosts NAME off   delete " +
		"the set\nhosts            list the sets\ncheck load takes a set as pattern=hosts:@NAME.\nSets that were " +
		"recorded in the last 30 days (record start hosts=FILE) are found by their names, too.",
	Args: []lang.Arg{
		{Name: "NAME", Kind: lang.KindText, Optional: true},
		{Name: "WHO", Kind: lang.KindPlace, Words: []string{feature.OffWord}, Optional: true, Repeat: true},
	},
	Options: []lang.Option{
		feature.OfOption(), {
			Name: "file", Kind: lang.KindFile, Summary: "a file of hosts, one per line; # begins a comment",
		},
	},
	Examples: []string{"hosts job1 node-[0001-0064]; fail switch spine-03; hosts job1", "hosts job1 leaf-01; hosts",
		"hosts job1 leaf-01; hosts job1 off"},
	Answers: []answer.Declared{&trafficDecl, &setsDecl, namedDecl, deletedDecl},
	Run:     run,
}}}

// traffic is the answer about the all-to-all traffic among the hosts of a set.
type traffic struct {
	Name        string       `key:"set" name:"set"`
	Hosts       int          `key:"hosts" name:"hosts"`
	Unreachable int          `key:"unreachable" help:"hosts that are unreachable because of failures"`
	Missing     int          `key:"not_in_subnet" help:"hosts of the set that the subnet does not have"`
	Leaves      int          `key:"switches" name:"switches" help:"switches that hosts of the set are attached to"`
	Paths       int64        `key:"paths" name:"paths" help:"paths that arrive"`
	Lost        int64        `key:"lost" help:"paths that do not arrive"`
	Unknown     int64        `key:"unknown" help:"paths over forwarding tables that were not read"`
	Links       int          `key:"links" help:"directions of links between switches that its paths take"`
	Shared      int          `key:"shared" help:"those of them that other paths take, too"`
	Worst       *link        `prefix:"worst_"` // nil if no path leaves its switch
	Stays       answer.Value `name:"stays" kind:"text"`

	p     *session.Picture
	ends  []fabric.PortIndex
	links []link
	lost  []linkload.Pair
}

// member is a host of the set.
type member struct {
	Port   answer.Value `key:"port" name:"PORT" kind:"place"`
	LID    uint16       `key:"lid" name:"LID" kind:"lid"`
	Switch answer.Value `key:"switch" name:"SWITCH" kind:"place" help:"switch port that it is attached to"`
	answer.Lead
}

// link is a direction of a link with its number of paths among the set, and its number of all paths.
type link struct {
	From   answer.Value `key:"from" name:"FROM" kind:"place"`
	To     answer.Value `key:"to" name:"TO" kind:"place"`
	Own    int64        `key:"own" name:"ITS PATHS" help:"paths among the hosts of the set"`
	All    int64        `key:"all" name:"ALL PATHS" help:"paths of all end ports to all others"`
	Others int64        `key:"others" name:"OF OTHERS" help:"paths of other hosts"`
	answer.Lead
}

// lostPath is a path between two hosts of the set that does not arrive.
type lostPath struct {
	From answer.Value `key:"from" name:"FROM" kind:"place"`
	To   answer.Value `key:"to" name:"TO" kind:"place"`
	LID  uint16       `key:"lid" name:"LID" kind:"lid"`
	answer.Lead
}

var (
	memberTable = answer.Table[member]{
		Key: "members", Title: "hosts", Stream: true, Fields: answer.Fields[member](),
	}
	linkTable = answer.Table[link]{
		Key: "used_links", Title: "links", Help: "links between switches by number of paths of the set", Stream: true,
		Fields: answer.Fields[link](),
	}
	lostTable = answer.Table[lostPath]{
		Key: "lost_paths", Title: "lost", Help: "the first paths that do not arrive", Stream: true,
		Fields: answer.Fields[lostPath](),
	}
)

var trafficDecl = answer.Decl[*traffic]{
	Command: "hosts", Help: "the traffic among the hosts of a set", Facts: answer.Fields[*traffic](),
	Title: "{set} of {of}: {hosts|host} on {switches|switch}, {paths|path} among them",
	Layout: []answer.Item[*traffic]{
		{Line: "[  {unreachable} of them unreachable]"},
		{Line: "[  {not_in_subnet|host} not in the subnet]"},
		{Line: "[  lost: {lost} more do not arrive]"},
		{Line: "[  unknown: {unknown} more, over tables that were not read]"},
		{Line: "[  {stays}]"},
		{Line: "{?worst_own}  links: {links|direction} between switches, {shared} of them shared with others"},
		{Line: "{?worst_own}  at worst {worst_own|path} of it over {worst_from} -> {worst_to}, of {worst_all} " +
			"that take this link"},
		{When: answer.Hidden[*traffic], Table: answer.Show(&memberTable, (*traffic).members)},
		{When: answer.Hidden[*traffic], Table: answer.Show(&linkTable, func(t *traffic) answer.Rows[link] {
			return answer.Slice(t.links)
		})},
		{When: answer.Hidden[*traffic], Table: answer.Show(&lostTable, (*traffic).lostPaths)},
	},
}

// set is a row of the list of sets of hosts.
type set struct {
	Name    string `key:"name" name:"NAME"`
	Hosts   int    `key:"hosts" name:"HOSTS" help:"hosts of the set that are in the live subnet"`
	Missing int    `key:"not_in_subnet" name:"NOT IN THE SUBNET" help:"other hosts of the set"`
}

var setTable = answer.Table[set]{
	Key: "sets", Title: "sets of hosts", Fields: answer.Fields[set](), Empty: "no sets of hosts; hint: 'hosts " +
		"job1 node[0001-0064]' names a set",
	Lead: func(s set) answer.Lead { return answer.Lead{Command: "hosts " + s.Name} },
}

var setsDecl = answer.Decl[[]set]{
	Command: "hosts", Help: "the sets of hosts", Title: "sets of hosts of {of}",
	Layout: []answer.Item[[]set]{{Table: answer.Show(&setTable, answer.Slice[set])}},
}

// named is a set that was named or deleted.
type named struct {
	Name  string       `key:"set"`
	Hosts answer.Value `key:"hosts" kind:"int"`
}

var (
	namedDecl   = feature.OneLine[named]("hosts", "the set of hosts that was named", "{set} in {of}: {hosts|host}")
	deletedDecl = feature.OneLine[named]("hosts", "the set of hosts that was deleted", "deleted {set} of {of}")
)

func run(c *feature.Call) error {
	st := c.Session.State()
	name := c.Arg(0)
	switch {
	case name == "":
		return c.Answer(setsDecl.Answer(st.Basis(st.Live, session.NeedLinks), sets(&st)))
	case !feature.HostSetName.MatchString(name):
		return c.Misused("invalid name %q, %s", name, feature.HostSetNames)
	case c.Arg(1) == feature.OffWord:
		if st.Sets.Named(name) == nil {
			return feature.NoSet(&st, name)
		}
		feature.NameHosts(c.Session, session.HostSet{Name: name})
		return c.Answer(deletedDecl.Answer(st.Basis(st.Live, 0), named{Name: name}))
	case len(c.Args) == 1 && c.Option("file", "") == "":
		st, p, err := c.Tables()
		if err != nil {
			return err
		}
		return show(c, st, p)
	}
	return nameSet(c)
}

func sets(st *session.State) []set {
	var rows []set
	for i := range st.Sets {
		ends, unreachable, missing := st.Sets[i].In(st.Live.Fabric)
		rows = append(rows, set{st.Sets[i].Name, len(ends), len(unreachable) + missing})
	}
	return rows
}

// nameSet creates a set from the hosts of the arguments and of the file.
func nameSet(c *feature.Call) error {
	before, p, err := c.State()
	if err != nil {
		return err
	}
	f := p.Fabric
	finder := places.HostFinder{Fabric: f}
	var ends []fabric.PortIndex
	var warnings []string
	for _, word := range c.Args[1:] {
		found, err := finder.Find(word)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			warnings = append(warnings, fmt.Sprintf("no host is attached to %s", fabric.Escape(word)))
		}
		ends = append(ends, found...)
	}
	if file := c.Option("file", ""); file != "" {
		listed, err := feature.ReadHosts(c.Ctx, f, file)
		if err != nil {
			return err
		}
		ends = append(ends, listed...)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	if why := feature.WhyNoSet(len(ends)); why != "" {
		return errors.New(why)
	}
	feature.NameHosts(c.Session, feature.SetOf(c.Arg(0), f, ends))
	if p.Tables == nil {
		b := before.Basis(p, session.NeedLinks)
		b.Warnings = append(b.Warnings, warnings...)
		return c.Answer(namedDecl.Answer(b, named{c.Arg(0), answer.Int(len(ends))}))
	}
	st := c.Session.State()
	return show(c, &st, p, warnings...)
}

func show(c *feature.Call, st *session.State, p *session.Picture, warnings ...string) error {
	f := p.Fabric
	t := &traffic{Name: c.Arg(0), p: p}
	members, err := c.SetMembers(f, t.Name)
	if err != nil {
		return err
	}
	ends := members.Ends()
	t.ends, t.Missing = members.Reachable, members.Missing
	t.Hosts, t.Unreachable = len(ends), len(members.Unreachable)
	if t.Hosts > feature.MaxFilteredHosts {
		return fmt.Errorf("%s has too many hosts to follow all paths among them: %d, the maximum is %d", t.Name,
			t.Hosts, feature.MaxFilteredHosts)
	}
	pairs := linkload.Among(f, ends)
	m, err := linkload.Measure(c.Ctx, p.Tables, pairs)
	if err != nil {
		return err
	}
	all, err := c.Session.Analysis().Load(c.Ctx, p.Tables, linkload.Options{})
	if err != nil {
		return err
	}
	t.Paths, t.Lost, t.Unknown = m.Delivered, m.Lost, m.Unknown
	t.count(m, all)
	if m.Lost > 0 {
		t.findLost(pairs)
	}
	b := st.Basis(p, session.NeedLinks|session.NeedTables)
	b.Warnings = append(b.Warnings, warnings...)
	return c.Answer(trafficDecl.Answer(b, t))
}

// count lists the links between switches that paths of the set use, by number of paths.
func (t *traffic) count(m *linkload.Measured, all *linkload.Loads) {
	f := t.p.Fabric
	leaves := map[fabric.SwitchIndex]bool{}
	for _, e := range t.ends {
		if sw, _ := f.AttachedSwitch(e); sw != fabric.None {
			leaves[sw] = true
		}
	}
	t.Leaves = len(leaves)
	for _, l := range m.Loads.Summary(len(f.Ports)).Worst {
		of := all.Paths[l.Port]
		t.links = append(t.links, link{answer.Port(f, l.Port), answer.Port(f, f.Ports[l.Port].Peer), l.Paths, of,
			of - l.Paths, feature.ToPort(f, l.Port)})
		if of > l.Paths {
			t.Shared++
		}
	}
	switch t.Links = len(t.links); {
	case t.Links > 0:
		t.Worst = &t.links[0]
	case t.Unknown > 0:
		t.Stays = answer.Text("no path among them is known to leave its switch")
	default:
		t.Stays = answer.Text("no path among them leaves its switch")
	}
}

// findLost finds pairs of the set that cannot reach each other, up to a limit.
func (t *traffic) findLost(pairs []linkload.Pair) {
	for _, p := range pairs {
		path := walk.Between(t.p.Tables, p.Src, p.Dst, p.LID)
		if !path.Verdict.Arrives() && path.Verdict != walk.Unknown {
			if t.lost = append(t.lost, p); len(t.lost) == feature.MaxExamples {
				return
			}
		}
	}
}

func (t *traffic) members() answer.Rows[member] {
	f := t.p.Fabric
	return answer.Lazy(len(t.ends), func(i int) member {
		e := t.ends[i]
		return member{answer.Port(f, e), f.Ports[e].LID, feature.Attachment(f, e), feature.ToPort(f, e)}
	})
}

func (t *traffic) lostPaths() answer.Rows[lostPath] {
	f := t.p.Fabric
	return answer.Lazy(len(t.lost), func(i int) lostPath {
		p := t.lost[i]
		return lostPath{answer.Port(f, p.Src), answer.Port(f, p.Dst), p.LID, feature.ToTrace(t.p, p.Src, p.Dst, p.LID)}
	})
}
