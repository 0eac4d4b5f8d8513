// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const hostsHelp = "WHO is a host, a list of hosts as Slurm writes it (node[0001-0064]), or a switch for the hosts attached to it; file=FILE has\n" +
	"one a line. Without WHO the set is shown: its members, which links the traffic among them takes, what else goes over\n" +
	"these, and which of its paths do not arrive, after failures on paper, too. check load takes a set as pattern=hosts:@NAME.\n"

func hostsCommands() []Spec {
	return []Spec{{
		Name: "hosts", Summary: "give hosts a name, as those of a job, or say what the traffic among them does; list the sets without a name", Help: hostsHelp,
		Args:    []lang.Arg{{Name: "NAME", Kind: lang.KindText, Optional: true}, {Name: "WHO", Kind: lang.KindPlace, Words: []string{offWord}, Optional: true, Repeat: true}},
		Options: []lang.Option{feature.OfOption(), {Name: "file", Kind: lang.KindFile, Summary: "a file of hosts, one a line; # begins a comment"}},
		Run:     runHosts,
	}}
}

var setName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

func runHosts(c *call) error {
	st := c.session.State()
	name := c.Arg(0)
	switch {
	case name == "":
		return c.listSets(&st)
	case !setName.MatchString(name):
		return c.Misused("%q is no name for a set of hosts, expected letters, digits, dots, dashes and underscores, 40 at most", name)
	case c.Arg(1) == offWord:
		if st.Set(name) == nil {
			return feature.NoSet(&st, name)
		}
		c.session.NameHosts(session.HostSet{Name: name})
		return c.say(object{"set": name}, "%s is forgotten", name)
	case len(c.Args) == 1 && c.Option("file", "") == "":
		return onTables(showHosts)(c)
	}
	return onPicture(nameHosts)(c)
}

type setRow struct {
	leads
	Name    string `json:"name"`
	Hosts   int    `json:"hosts"`
	Missing int    `json:"not_in_subnet"`
}

func (r setRow) Cells() []any { return []any{r.Name, r.Hosts, r.Missing} }

func (c *call) listSets(st *session.State) error {
	var rows []setRow
	for i := range st.Sets {
		ends, unreachable, missing := st.Sets[i].In(st.Live.Fabric)
		rows = append(rows, setRow{leads{toCommand("hosts %s", st.Sets[i].Name)}, st.Sets[i].Name, len(ends), len(unreachable) + missing})
	}
	return c.out.Answer(&List{Columns: []string{"NAME", "HOSTS", "NOT IN THE SUBNET"}, Rows: eachRow(rows), Empty: "no hosts have a name yet (try: hosts job1 node[0001-0064])"})
}

// nameHosts makes a set of what the words and the file say.
func nameHosts(c *call, _ *session.State, p *session.Picture) error {
	f := p.Fabric
	finder := hostFinder{f: f}
	var ends []fabric.PortIndex
	for _, word := range c.Args[1:] {
		found, err := finder.find(word)
		if err != nil {
			return err
		}
		ends = append(ends, found...)
	}
	if file := c.Option("file", ""); file != "" {
		listed, err := feature.ReadHosts(c.ctx, f, file)
		if err != nil {
			return err
		}
		ends = append(ends, listed...)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	if len(ends) < 2 {
		return fmt.Errorf("%s: a set has two hosts at least", count(len(ends), "host"))
	}
	set := session.HostSet{Name: c.Arg(0)}
	for _, e := range ends {
		set.Ports = append(set.Ports, f.Ports[e].GUID)
	}
	c.session.NameHosts(set)
	if p.Tables == nil {
		return c.say(object{"set": set.Name, "hosts": len(ends)}, "%s is %s", set.Name, count(len(ends), "host"))
	}
	st := c.session.State()
	return showHosts(c, &st, p)
}

// hostFinder finds hosts by what people and Slurm call them.
type hostFinder struct {
	f      *fabric.Fabric
	byName map[string][]fabric.PortIndex // end ports by Slurm's name of their host
}

// find returns the end ports of a word: of a hostlist, a host, or all hosts of a switch.
func (h *hostFinder) find(word string) ([]fabric.PortIndex, error) {
	names, err := slurm.Expand(word)
	if err != nil {
		return nil, err
	}
	if h.byName == nil {
		h.byName = map[string][]fabric.PortIndex{}
		for _, e := range h.f.EndPorts {
			if n := &h.f.Nodes[h.f.Ports[e].Node]; !n.IsSwitch() {
				name := slurm.NodeName(n.Desc, n.GUID)
				h.byName[name] = append(h.byName[name], e)
			}
		}
	}
	var ends []fabric.PortIndex
	for _, name := range names {
		if found := h.byName[name]; found != nil {
			ends = append(ends, found...)
			continue
		}
		at, err := places.Resolve(h.f, name)
		if err != nil {
			return nil, err
		}
		if n := &h.f.Nodes[at.Node]; n.IsSwitch() {
			ends = append(ends, h.attached(n)...)
			continue
		}
		ends = append(ends, h.f.EndPortOf(at.Port))
	}
	return ends, nil
}

// attached are the end ports of the hosts on a switch.
func (h *hostFinder) attached(n *fabric.Node) []fabric.PortIndex {
	var ends []fabric.PortIndex
	for p := range n.Ports() {
		if h.f.Ports[p].Linked() && !h.f.Nodes[h.f.PeerNode(p)].IsSwitch() && !h.f.IsAggregation(h.f.PeerNode(p)) {
			ends = append(ends, h.f.EndPortOf(h.f.Ports[p].Peer))
		}
	}
	return ends
}

// hostsAnswer is what the traffic among the hosts of a set does: all to all.
type hostsAnswer struct {
	Of    string `json:"of"`
	Stale bool   `json:"stale,omitempty"`
	Name  string `json:"set"`
	Hosts int    `json:"hosts"`
	// Unreachable counts those of the hosts that failures have separated from the subnet, Missing those that it does not have.
	Unreachable int   `json:"unreachable"`
	Missing     int   `json:"not_in_subnet"`
	Leaves      int   `json:"switches"`
	Paths       int64 `json:"paths"`
	Lost        int64 `json:"lost"`
	Unknown     int64 `json:"unknown"` // paths that meet a table that was not read
	// Links counts the directions between switches that its paths take, Shared those that others take, too.
	Links  int         `json:"links"`
	Shared int         `json:"shared"`
	Worst  *sharedLink `json:"worst,omitempty"`
	tablesNotRead

	picture *session.Picture
	ends    []fabric.PortIndex
	links   []sharedLink
	lost    []linkload.Pair
}

// sharedLink is a direction of a link with the paths of the set, and all paths.
type sharedLink struct {
	From string `json:"from"`
	To   string `json:"to"`
	Own  int64  `json:"own"`
	All  int64  `json:"all"`
	port fabric.PortIndex
}

func showHosts(c *call, st *session.State, p *session.Picture) error {
	set := st.Set(c.Arg(0))
	if set == nil {
		return feature.NoSet(st, c.Arg(0))
	}
	f := p.Fabric
	a := hostsAnswer{Of: st.Title(p), Stale: st.IsStale(p), Name: set.Name, picture: p, tablesNotRead: tablesNotReadOf(p.Tables)}
	var unreachable []fabric.PortIndex
	a.ends, unreachable, a.Missing = set.In(f)
	a.Hosts, a.Unreachable = len(a.ends)+len(unreachable), len(unreachable)
	if a.Hosts > feature.MostGranted {
		return fmt.Errorf("%s has %d hosts, which are too many to follow all paths among them: %d at most", set.Name, a.Hosts, feature.MostGranted)
	}
	pairs := linkload.Among(f, append(slices.Clone(a.ends), unreachable...))
	m, err := linkload.Measure(c.ctx, p.Tables, pairs)
	if err != nil {
		return err
	}
	all, err := c.session.Analysis().Load(c.ctx, p.Tables, linkload.Options{})
	if err != nil {
		return err
	}
	a.Paths, a.Lost, a.Unknown = m.Delivered, m.Lost, m.Unknown
	a.count(m, all)
	if m.Lost > 0 {
		a.findLost(pairs)
	}
	return c.out.Answer(&a)
}

// count takes the links between switches that the set's paths take, those with most paths of it first.
func (a *hostsAnswer) count(m *linkload.Measured, all *linkload.Loads) {
	f := a.picture.Fabric
	leaves := map[fabric.SwitchIndex]bool{}
	for _, e := range a.ends {
		if sw, _ := f.AttachedSwitch(e); sw != fabric.None {
			leaves[sw] = true
		}
	}
	a.Leaves = len(leaves)
	for _, l := range m.Loads.Summary(len(f.Ports)).Worst {
		s := sharedLink{f.PortName(l.Port), f.PortName(f.Ports[l.Port].Peer), l.Paths, all.Paths[l.Port], l.Port}
		a.links = append(a.links, s)
		if s.All > s.Own {
			a.Shared++
		}
	}
	if a.Links = len(a.links); a.Links > 0 {
		a.Worst = &a.links[0]
	}
}

// findLost names the first pairs of the set that do not reach each other.
func (a *hostsAnswer) findLost(pairs []linkload.Pair) {
	for _, p := range pairs {
		path := walk.Between(a.picture.Tables, p.Src, p.Dst, p.LID)
		if !path.Verdict.Arrives() && path.Verdict != walk.Unknown {
			if a.lost = append(a.lost, p); len(a.lost) == feature.MostNamed {
				return
			}
		}
	}
}

// Text sums up.
func (a *hostsAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("%s of %s: %s on %s, %d paths among them", a.Name, a.Of, count(a.Hosts, "host"), count(a.Leaves, "switch"), a.Paths)
	if a.Unreachable > 0 {
		line("  %d of them unreachable", a.Unreachable)
	}
	if a.Missing > 0 {
		line("  %s not in the subnet", count(a.Missing, "host"))
	}
	a.tablesNotRead.text(w)
	if a.Lost > 0 {
		line("  lost: %d more do not arrive", a.Lost)
	}
	if a.Unknown > 0 {
		line("  unknown: %d more, over tables that were not read", a.Unknown)
	}
	if a.Worst == nil && a.Unknown > 0 {
		line("  no path among them is known to leave its switch")
		return
	}
	if a.Worst == nil {
		line("  no path among them leaves its switch")
		return
	}
	line("  links: %d directions between switches, %d of them shared with others", a.Links, a.Shared)
	line("  at worst %s of it over %s -> %s, of %d that take this link", count(int(a.Worst.Own), "path"), a.Worst.From, a.Worst.To, a.Worst.All)
}

// Tables has members, links and lost paths.
func (a *hostsAnswer) Tables() []Table {
	f := a.picture.Fabric
	return []Table{
		tableOf("hosts", []string{"PORT", "LID", "SWITCH"}, a.ends, func(e fabric.PortIndex) plainRow {
			return plainRow{leads{feature.ToPort(f, e)}, []any{f.PortName(e), f.Ports[e].LID, leafOf(f, e)}}
		}),
		tableOf("links", []string{"FROM", "TO", "ITS PATHS", "ALL PATHS", "OF OTHERS"}, a.links, func(l sharedLink) plainRow {
			return plainRow{leads{feature.ToPort(f, l.port)}, []any{l.From, l.To, l.Own, l.All, l.All - l.Own}}
		}),
		tableOf("lost", []string{"FROM", "TO", "LID"}, a.lost, func(p linkload.Pair) plainRow {
			return plainRow{leads{feature.ToTrace(a.picture, p.Src, p.Dst, p.LID)}, []any{f.PortName(p.Src), f.PortName(p.Dst), p.LID}}
		}),
	}
}

// HostWords names hosts, and switches for the hosts attached to them, as the command hosts takes them.
func HostWords(f *fabric.Fabric, nodes []fabric.NodeIndex) string {
	finder := hostFinder{f: f}
	var hosts, words []string
	for _, n := range nodes {
		node := &f.Nodes[n]
		name := slurm.NodeName(node.Desc, node.GUID)
		ends, err := finder.find(name)
		alone := err == nil && len(ends) > 0 && !slices.ContainsFunc(ends, func(e fabric.PortIndex) bool { return f.Ports[e].Node != n })
		switch {
		case node.IsSwitch() || !alone:
			words = append(words, lang.Quote(places.NodeRef(f, n)))
		default:
			hosts = append(hosts, name)
		}
	}
	if len(hosts) > 0 {
		words = append(words, slurm.Hostlist(hosts))
	}
	return strings.Join(words, " ")
}

// HostName is the name of the host that an adapter is in.
func HostName(n *fabric.Node) string { return slurm.NodeName(n.Desc, n.GUID) }
