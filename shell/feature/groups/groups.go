// SPDX-License-Identifier: Apache-2.0

// Package groups lists multicast groups and their members, and reads them from the subnet administration (SA).
package groups

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/base/nocore"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/administration"
	"example.org/ibconsole/shell/session/connection"
)

// Feature provides the commands "show groups" and "sa groups".
var Feature = feature.Feature{Name: "groups", Keys: []feature.Key{
	{Name: "pane-0", Keys: "0", Pane: "Groups", Help: "multicast groups, their members and trees"},
}, Commands: []feature.Command{
	{
		Path:    "show groups",
		Summary: "List the multicast groups, or the members of one group",
		Args:    []lang.Arg{{Name: "MLID", Kind: lang.KindText, Optional: true}},
		Examples: []string{
			"sweep full mft; show groups",
			"load groups opensm-sa.dump; show groups 0xC000",
		},
		Answers: []answer.Declared{&groupsDecl, &membersDecl},
		Run:     run,
	},
	{
		Path:    "sa groups",
		Summary: "Read the multicast groups from the subnet administration",
		Help:    "After that, show groups, route and check mcast use these groups and their members.",
		Options: []lang.Option{{Name: "key", Kind: lang.KindText, Value: "KEY",
			Summary: fmt.Sprintf("SA_Key, needed to list members (default: that of --mkeys, otherwise 0x%x, OpenSM's "+
				"default); -c shows it to other users", sweep.DefaultSAKey)}},
		Examples: []string{"sa groups", "sa groups; show groups"},
		Answers:  []answer.Declared{&readDecl},
		Run:      read,
	},
}}

// list holds the known groups.
type list struct {
	p     *session.Picture
	known *session.Groups
}

// group is a group in a state.
type group struct {
	p *session.Picture
	*fabric.Group
}

var groupTable = answer.Table[group]{
	Key: "groups", Title: "groups", Stream: true,
	Fields: []answer.Field[group]{
		answer.TextField("mlid", "MLID", "multicast LID", func(g group) string { return feature.MLIDText(g.MLID) }),
		answer.OptionalField("mgid", "MGID", "multicast GID", group.mgid),
		answer.OptionalField("pkey", "P_KEY", "partition key", func(g group) string {
			return prose.When(g.MGID == (mad.GID{}), "", fmt.Sprintf("0x%04x", g.PKey))
		}),
		answer.FieldOf(answer.KindInt, "sl", "SL", "service level", func(g group) answer.Value {
			return prose.When(g.SLUnknown, answer.NotRead(), answer.Int(g.SL))
		}),
		{Key: "mtu", Name: "MTU", Kind: answer.KindText, Unit: "bytes", Value: func(g group) answer.Value {
			_, mtu, _ := administration.GroupText(g.Group)
			return answer.Optional(mtu)
		}},
		answer.OptionalField("", "RATE", "", func(g group) string {
			_, _, rate := administration.GroupText(g.Group)
			return rate
		}),
		{Key: "gbps", Kind: answer.KindFloat, Unit: "Gbit/s", Value: func(g group) answer.Value {
			rate := sa.Rate(g.Rate).Gbps()
			return prose.When(rate > 0, answer.Float(rate, 1), answer.None())
		}},
		answer.TextField("", "MEMBERS", "end ports that have joined", func(g group) string {
			n := g.absent()
			return strconv.Itoa(len(g.Members)) + prose.When(n == 0, "", fmt.Sprintf(" (%d not in the subnet)", n))
		}),
		answer.IntField("members", "", "end ports that have joined", func(g group) int { return len(g.Members) }),
		answer.IntField("not_in_subnet", "", "members that the subnet does not have", group.absent),
		answer.FieldOf(answer.KindInt, "switches", "SWITCHES", "switches with an entry for the LID", switches),
	},
	Lead: func(g group) answer.Lead { return answer.Lead{Command: "show groups " + feature.MLIDText(g.MLID)} },
}

var groupsDecl = answer.Decl[list]{
	Command: "show groups", Help: "the multicast groups", Title: "multicast groups from {origin}, tables of {of}",
	Facts: []answer.Field[list]{
		answer.TextField("origin", "", originHelp, func(l list) string { return l.known.Origin }),
	},
	Layout: []answer.Item[list]{{Table: answer.Show(&groupTable, func(l list) answer.Rows[group] {
		return answer.Lazy(len(l.known.List), func(i int) group { return group{l.p, &l.known.List[i]} })
	})}},
}

// members is the answer with the members of all groups that use a multicast LID.
type members struct {
	MLID   string   `key:"mlid"`
	MGIDs  []string `key:"mgids"`
	Origin string   `key:"origin" help:"source of the groups"`
	all    []member
}

// member is a member of a group.
type member struct {
	f *fabric.Fabric
	*fabric.Group
	fabric.Member
}

func (m member) port() fabric.PortIndex { return m.f.PortByGUID(m.GUID) }

var memberTable = answer.Table[member]{
	Key: "members", Title: "members", Stream: true,
	Fields: []answer.Field[member]{
		answer.OptionalField("mgid", "", "", func(m member) string { return group{nil, m.Group}.mgid() }),
		answer.GUIDField("guid", "PORT GUID", "GUID of the member", func(m member) uint64 { return m.GUID }),
		answer.TextField("join", "JOIN", "full member, send-only member, or sender without membership",
			func(m member) string { return m.Join.String() }),
		answer.PlaceField("switch", "SWITCH", "switch port that it is attached to", func(m member) answer.Value {
			return feature.Attachment(m.f, m.port())
		}),
		answer.FieldOf(answer.KindText, "", "NAME", "port of the member", func(m member) answer.Value {
			if m.port() == fabric.None {
				return answer.Text("(not in the subnet)")
			}
			return answer.Port(m.f, m.port())
		}),
		answer.PlaceField("port", "", "none if the subnet does not have the port", func(m member) answer.Value {
			return answer.Port(m.f, m.port())
		}),
		answer.BoolField("proxy", "", "another port joined for it", func(m member) bool { return m.Proxy }),
	},
	Lead: func(m member) answer.Lead { return feature.ToPort(m.f, m.port()) },
}

var membersDecl = answer.Decl[members]{
	Command: "show groups", Help: "the members of the groups of a multicast LID",
	Title: "{mlid} {mgids} from {origin}, {of}", Facts: answer.Fields[members](),
	Layout: []answer.Item[members]{
		{Table: answer.Show(&memberTable, func(m members) answer.Rows[member] { return answer.Slice(m.all) })},
	},
}

func run(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	known, err := st.GroupsOf(p)
	if err != nil {
		return err
	}
	b := st.Basis(p, session.NeedLinks)
	if c.Arg(0) == "" {
		return c.Answer(groupsDecl.Answer(b, list{p, known}))
	}
	mlid, err := feature.ParseMLID(c.Arg(0))
	if err != nil {
		return err
	}
	m := members{MLID: feature.MLIDText(mlid), Origin: known.Origin, MGIDs: []string{}}
	found := false
	for i := range known.List {
		g := &known.List[i]
		if g.MLID != mlid {
			continue
		}
		found = true
		if g.MGID != (mad.GID{}) {
			m.MGIDs = append(m.MGIDs, g.MGID.String())
		}
		for _, x := range g.Members {
			m.all = append(m.all, member{p.Fabric, g, x})
		}
	}
	if !found {
		return fmt.Errorf("no group has the multicast LID %s", m.MLID)
	}
	return c.Answer(membersDecl.Answer(b, m))
}

var readDecl = answer.Decl[*session.Groups]{
	Command: "sa groups", Help: "number of groups of the subnet administration",
	Title: "{groups|multicast group} with {members|member} taken from {origin}, {of}",
	Facts: []answer.Field[*session.Groups]{
		answer.IntField("groups", "", "", func(g *session.Groups) int { return len(g.List) }),
		answer.IntField("members", "", "", func(g *session.Groups) (n int) {
			for i := range g.List {
				n += len(g.List[i].Members)
			}
			return n
		}),
		answer.TextField("origin", "", originHelp, func(g *session.Groups) string { return g.Origin }),
	},
}

func read(c *feature.Call) error {
	var key *uint64
	if text := c.Option("key", ""); text != "" {
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return c.Misused("key=: expected a number of 64 bits")
		}
		key = &n
	}
	g, notes, err := ask(c, key)
	if err != nil {
		return err
	}
	st := c.Session.State()
	b := st.Basis(st.Live, session.NeedLinks)
	b.Warnings = notes
	return c.Answer(readDecl.Answer(b, g))
}

// ask reads the multicast groups from the subnet administration (SA). The argument given is the SA_Key, or 0 for no
// key. If it is nil, ask uses the SA_Key of [session.Options]. The returned notes report missing data.
func ask(c *feature.Call, given *uint64) (*session.Groups, []string, error) {
	s, ctx := c.Session, c.Ctx
	key := cmp.Or(s.Options().Keys.SA, sweep.DefaultSAKey)
	if given != nil {
		key = *given
		if err := nocore.Set(); err != nil {
			return nil, nil, err
		}
	}
	op, err := s.Begin(ctx, "groups")
	if err != nil {
		return nil, nil, err
	}
	defer op.End()
	client, err := s.Connection().SA(ctx)
	if err != nil {
		return nil, nil, err
	}
	client.SMKey = key
	var notes []string
	f := s.State().Live.Fabric
	list, full, err := sweep.Groups(ctx, client, f, op.Progress)
	if key != 0 && errors.Is(err, mad.ErrTimeout) {
		notes = append(notes, "the SA did not respond with this SA_Key; hint: set sa_key in the file of --mkeys, "+
			"or key=KEY")
		client.SMKey = 0
		list, full, err = sweep.Groups(ctx, client, f, op.Progress)
	}
	if err != nil {
		return nil, nil, connection.Unanswered(err)
	}
	if !full {
		notes = append(notes, "the SA reports join states only to trusted clients; all members count as full members")
	}
	g := &session.Groups{List: list, Origin: "the subnet administration"}
	s.Publish(session.ChangeSettings, func(st *session.State) { st.Groups = g })
	return g, notes, nil
}

const originHelp = "source of the groups"

func (g group) mgid() string {
	words, _, _ := administration.GroupText(g.Group)
	return words
}

// absent returns the number of members whose ports are not in the subnet.
func (g group) absent() (n int) {
	for i := range g.Members {
		if g.p.Fabric.PortByGUID(g.Members[i].GUID) == fabric.None {
			n++
		}
	}
	return n
}

// switches returns the number of switches with a multicast table entry for the LID of a group.
func switches(g group) answer.Value {
	if g.p.Tables == nil || g.p.Tables.MFT == nil {
		return answer.NotRead()
	}
	n := 0
	for s := range g.p.Fabric.Switches {
		if g.p.Tables.MFT.Any(fabric.SwitchIndex(s), g.MLID) {
			n++
		}
	}
	return answer.Int(n)
}
