// SPDX-License-Identifier: Apache-2.0

// Package groups lists multicast groups and their members, and reads them from the subnet administration.
package groups

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/base/nocore"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
)

// Feature is the commands show groups and sa groups.
var Feature = feature.Feature{Name: "groups", Keys: []feature.Key{
	{Name: "pane-0", Keys: "0", Pane: "Groups", Help: "multicast groups, their members and trees"},
}, Commands: []feature.Command{
	{
		Path:     "show groups",
		Summary:  "List the multicast groups, or the members of one",
		Args:     []lang.Arg{{Name: "MLID", Kind: lang.KindText, Optional: true}},
		Examples: []string{"sweep full mft; show groups", "load groups FILE; show groups 0xC001"},
		Answers:  []answer.Declared{&groupsDecl, &membersDecl},
		Run:      run,
	},
	{
		Path:    "sa groups",
		Summary: "Read the multicast groups from the subnet administration",
		Help:    "show groups, route and check mcast then use these groups and their members.",
		Options: []lang.Option{{Name: "key", Kind: lang.KindText, Value: "KEY",
			Summary: fmt.Sprintf("its SA_Key, without which it does not name members: "+
				"that of --mkeys, else 0x%x, OpenSM's default; others see what stands in -c", sweep.DefaultSAKey)}},
		Examples: []string{"sa groups; show groups"},
		Answers:  []answer.Declared{&readDecl},
		Run:      read,
	},
}}

// list is the groups that are known.
type list struct {
	p     *session.Picture
	known *session.Groups
}

// group is one of them in a state.
type group struct {
	p *session.Picture
	*fabric.Group
}

var groupTable = answer.Table[group]{
	Key: "groups", Title: "groups", Stream: true,
	Fields: []answer.Field[group]{
		{Key: "mlid", Name: "MLID", Kind: answer.KindText, Help: "multicast LID", Value: func(g group) answer.Value {
			return mlid(g.MLID)
		}},
		{Key: "mgid", Name: "MGID", Kind: answer.KindText, Help: "multicast GID", Value: mgid},
		{Key: "pkey", Name: "P_KEY", Kind: answer.KindText, Help: "partition key", Value: func(g group) answer.Value {
			if g.MGID == (mad.GID{}) {
				return answer.None()
			}
			return answer.Text(fmt.Sprintf("0x%04x", g.PKey))
		}},
		{Key: "sl", Name: "SL", Kind: answer.KindInt, Help: "service level", Value: func(g group) answer.Value {
			if g.SLUnknown {
				return answer.NotRead()
			}
			return answer.Int(g.SL)
		}},
		{Key: "mtu", Name: "MTU", Kind: answer.KindText, Unit: "bytes", Value: func(g group) answer.Value {
			_, mtu, _ := session.GroupWords(g.Group)
			return answer.Optional(mtu)
		}},
		{Name: "RATE", Kind: answer.KindText, Value: func(g group) answer.Value {
			_, _, rate := session.GroupWords(g.Group)
			return answer.Optional(rate)
		}},
		{Key: "gbps", Kind: answer.KindFloat, Unit: "Gbit/s", Value: func(g group) answer.Value {
			if rate := sa.Rate(g.Rate).Gbps(); rate > 0 {
				return answer.Float(rate, 1)
			}
			return answer.None()
		}},
		{Name: "MEMBERS", Kind: answer.KindText, Help: "end ports that have joined", Value: func(g group) answer.Value {
			text := strconv.Itoa(len(g.Members))
			if n := g.absent(); n > 0 {
				text += fmt.Sprintf(" (%d not in the subnet)", n)
			}
			return answer.Text(text)
		}},
		{Key: "members", Kind: answer.KindInt, Help: "end ports that have joined", Value: func(g group) answer.Value {
			return answer.Int(len(g.Members))
		}},
		{Key: "not_in_subnet", Kind: answer.KindInt, Help: "members that the subnet does not have",
			Value: func(g group) answer.Value { return answer.Int(g.absent()) }},
		{Key: "switches", Name: "SWITCHES", Kind: answer.KindInt, Help: "switches with an entry for the LID",
			Value: switches},
	},
	Lead: func(g group) answer.Lead { return answer.Lead{Command: "show groups " + feature.MLIDText(g.MLID)} },
}

var groupsDecl = answer.Decl[list]{
	Command: "show groups", Help: "the multicast groups", Title: "multicast groups from {origin}, tables of {of}",
	Facts: []answer.Field[list]{originField(func(l list) string { return l.known.Origin })},
	Layout: []answer.Item[list]{{Table: answer.Show(&groupTable, func(l list) answer.Rows[group] {
		return answer.Lazy(len(l.known.List), func(i int) group { return group{l.p, &l.known.List[i]} })
	})}},
}

// members is the members of the groups of a multicast LID.
type members struct {
	f      *fabric.Fabric
	mlid   uint16
	origin string
	mgids  []string
	all    []member
}

// member is one of them.
type member struct {
	f *fabric.Fabric
	*fabric.Group
	fabric.Member
}

func (m member) port() fabric.PortIndex { return m.f.PortByGUID(m.GUID) }

var memberTable = answer.Table[member]{
	Key: "members", Title: "members", Stream: true,
	Fields: []answer.Field[member]{
		{Key: "mgid", Kind: answer.KindText, Value: func(m member) answer.Value { return mgid(group{nil, m.Group}) }},
		{Key: "guid", Name: "PORT GUID", Kind: answer.KindGUID, Help: "of the member",
			Value: func(m member) answer.Value { return answer.GUID(m.GUID) }},
		{Key: "join", Name: "JOIN", Kind: answer.KindText, Help: "whether it receives, only sends, or only sends and " +
			"is no member",
			Value: func(m member) answer.Value { return answer.Text(m.Join.String()) }},
		{Key: "switch", Name: "SWITCH", Kind: answer.KindPlace, Help: "the port of the switch that it is attached to",
			Value: func(m member) answer.Value { return feature.Attachment(m.f, m.port()) }},
		{Name: "NAME", Kind: answer.KindText, Help: "the port that has joined", Value: func(m member) answer.Value {
			if m.port() == fabric.None {
				return answer.Text("(not in the subnet)")
			}
			return answer.Port(m.f, m.port())
		}},
		{Key: "port", Kind: answer.KindPlace, Help: "none where the subnet does not have it",
			Value: func(m member) answer.Value { return answer.Port(m.f, m.port()) }},
		{Key: "proxy", Kind: answer.KindBool, Help: "another port had it join", Value: func(m member) answer.Value {
			return answer.Bool(m.Proxy)
		}},
	},
	Lead: func(m member) answer.Lead { return feature.ToPort(m.f, m.port()) },
}

var membersDecl = answer.Decl[members]{
	Command: "show groups", Help: "the members of the groups of a multicast LID",
	Title: "{mlid} {mgids} from {origin}, {of}",
	Facts: []answer.Field[members]{
		{Key: "mlid", Kind: answer.KindText, Value: func(m members) answer.Value { return mlid(m.mlid) }},
		{Key: "mgids", Kind: answer.KindTexts, Value: func(m members) answer.Value { return answer.Texts(m.mgids) }},
		originField(func(m members) string { return m.origin }),
	},
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
	m := members{f: p.Fabric, origin: known.Origin, mgids: []string{}}
	if m.mlid, err = feature.ParseMLID(c.Arg(0)); err != nil {
		return err
	}
	found := false
	for i := range known.List {
		g := &known.List[i]
		if g.MLID != m.mlid {
			continue
		}
		found = true
		if g.MGID != (mad.GID{}) {
			m.mgids = append(m.mgids, g.MGID.String())
		}
		for _, x := range g.Members {
			m.all = append(m.all, member{p.Fabric, g, x})
		}
	}
	if !found {
		return fmt.Errorf("no group has the multicast LID %s", feature.MLIDText(m.mlid))
	}
	return c.Answer(membersDecl.Answer(b, m))
}

var readDecl = answer.Decl[*session.Groups]{
	Command: "sa groups", Help: "how many groups the subnet administration has",
	Title: "{groups|multicast group} with {members|member} taken from {origin}, {of}",
	Facts: []answer.Field[*session.Groups]{
		{Key: "groups", Kind: answer.KindInt, Value: func(g *session.Groups) answer.Value {
			return answer.Int(len(g.List))
		}},
		{Key: "members", Kind: answer.KindInt, Value: func(g *session.Groups) answer.Value {
			n := 0
			for i := range g.List {
				n += len(g.List[i].Members)
			}
			return answer.Int(n)
		}},
		originField(func(g *session.Groups) string { return g.Origin }),
	},
}

func read(c *feature.Call) error {
	var key *uint64
	if text := c.Option("key", ""); text != "" {
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return c.Misused("what key= says is no key, expected a number of 64 bits")
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

// ask takes the multicast groups from the subnet administration, with its key for those that it trusts: nil for
// that of [session.Options], 0 for none. Notes say what it did not tell.
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
		notes = append(notes, "the subnet administration does not answer with that key (try: sa_key KEY in the file "+
			"of --mkeys, or key=)")
		client.SMKey = 0
		list, full, err = sweep.Groups(ctx, client, f, op.Progress)
	}
	if err != nil {
		return nil, nil, connection.Unanswered(err)
	}
	if !full {
		notes = append(notes, "it tells join states only whom it trusts; all members count as full ones")
	}
	g := &session.Groups{List: list, Origin: "the subnet administration"}
	s.Publish(session.ChangeSettings, func(st *session.State) { st.Groups = g })
	return g, notes, nil
}

// originField declares where groups are from.
func originField[T any](origin func(T) string) answer.Field[T] {
	return answer.Field[T]{Key: "origin", Kind: answer.KindText, Help: "where the groups are from",
		Value: func(v T) answer.Value { return answer.Text(origin(v)) }}
}

func mlid(lid uint16) answer.Value { return answer.Text(feature.MLIDText(lid)) }

func mgid(g group) answer.Value {
	words, _, _ := session.GroupWords(g.Group)
	return answer.Optional(words)
}

// absent counts the members that the subnet does not have.
func (g group) absent() (n int) {
	for i := range g.Members {
		if g.p.Fabric.PortByGUID(g.Members[i].GUID) == fabric.None {
			n++
		}
	}
	return n
}

// switches counts the switches with an entry for the LID of a group.
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
