// SPDX-License-Identifier: Apache-2.0

// Package partitions checks OpenSM's file of partitions and compares it with another file or with the subnet.
package partitions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/administration"
)

const help = "FILE is a partitions.conf (default: that of engine partition_config_file=FILE).\n" +
	"The check follows the rules of OpenSM 3.3.23. It lists flags with another effect than the text suggests,\n" +
	"multicast groups that OpenSM does not create, members that the subnet does not have, repeated and conflicting\n" +
	"memberships, and service levels that the engine does not use. The P_Keys and groups are those that OpenSM\n" +
	"would make of the file. with=FILE compares them with those of another file. with=FOLDER compares the P_Keys\n" +
	"with those in a folder of ibdiagnet, and with=live with those that sweep full pkeys read.\n"

// Feature is the command check partitions.
var Feature = feature.Feature{Name: "partitions", Commands: []feature.Command{{
	Path:    "check partitions",
	Summary: "Check OpenSM's file of partitions, or compare two files",
	Help:    help,
	Args:    []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true}},
	Options: []lang.Option{{
		Name: "with", Kind: lang.KindFile, Value: "FILE|FOLDER|live",
		Summary: "another partitions.conf, a folder of ibdiagnet, or live",
	}},
	Examples: []string{
		"check partitions partitions.conf",
		"engine partition_config_file=partitions.conf; check partitions",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// checked is the answer.
type checked struct {
	File       string       `key:"file" name:"file"`
	Parsed     bool         `key:"parsed" help:"false if OpenSM rejects the file"`
	Partitions int          `key:"partition_count" name:"partitions" help:"partitions with members"`
	Groups     int          `key:"group_count" name:"groups" help:"multicast groups that OpenSM creates"`
	Refused    int          `key:"refused_group_count" name:"groups not created"`
	Faults     int          `key:"fault_count" name:"faults"`
	With       answer.Value `key:"with" name:"with" kind:"text" help:"what the file is compared with"`
	Different  answer.Value `key:"difference_count" name:"differences" kind:"int"`
	Foreign    int          `key:"foreign_port_count" help:"ports of the folder that the subnet does not have"`

	f           *fabric.Fabric
	notes       []osm.PartitionNote
	partitions  []osm.Partition
	groups      []osm.PartitionGroup
	differences []differenceRow
	unread      []fabric.PortIndex // end ports whose P_Keys the folder or the live state does not have
}

type faultRow struct {
	Line int    `key:"line" name:"LINE"`
	Kind string `key:"what" name:"KIND" help:"syntax, flag, group, member, membership or service level"`
	Text string `key:"text" name:"FAULT"`
}

type partitionRow struct {
	Key     string `key:"number" name:"PARTITION" help:"lower 15 bits of the P_Key"`
	Name    string `key:"name" name:"NAME"`
	SL      int    `key:"sl" name:"SL" help:"service level"`
	Full    int    `key:"full" name:"FULL" help:"full members in the subnet"`
	Limited int    `key:"limited" name:"LIMITED" help:"limited members in the subnet"`
	Line    int    `key:"line" name:"LINE" help:"0 if the file does not define the partition"`
}

type groupRow struct {
	MGID    string       `key:"mgid" name:"MGID"`
	Key     string       `key:"pkey" name:"P_KEY"`
	MTU     answer.Value `key:"mtu" name:"MTU" kind:"text" help:"bytes; none: the lowest one of the hosts"`
	Rate    answer.Value `key:"rate" name:"RATE" kind:"text" help:"none: the lowest one of the hosts"`
	SL      int          `key:"sl" name:"SL" help:"service level"`
	Line    int          `key:"line" name:"LINE"`
	Refused answer.Value `key:"not_created" name:"NOT CREATED" kind:"text" help:"why OpenSM does not create it"`
}

type differenceRow struct {
	What string `key:"what" name:"SETTING" help:"P_Keys, group or service level"`
	Of   string `key:"at" name:"OF" help:"end port, MGID or partition"`
	This string `key:"this" name:"THIS FILE"`
	That string `key:"other" name:"OTHER"`
	answer.Lead
}

var (
	faultTable     = answer.Table[faultRow]{Key: "faults", Title: "faults", Fields: answer.Fields[faultRow]()}
	partitionTable = answer.Table[partitionRow]{
		Key: "partitions", Title: "partitions", Fields: answer.Fields[partitionRow](),
	}
	groupTable = answer.Table[groupRow]{
		Key: "groups", Title: "multicast groups", Fields: answer.Fields[groupRow](),
	}
	differenceTable = answer.Table[differenceRow]{
		Key: "differences", Title: "differences", Fields: answer.Fields[differenceRow](), MaxRows: 100,
	}
	decl = answer.Decl[*checked]{
		Command: "check partitions", Help: "faults of a partitions.conf, and what OpenSM makes of it in a subnet",
		Title: "{file} in {of}: {partition_count|partition}, {group_count|multicast group} created, " +
			"{refused_group_count} not created, {fault_count|fault}",
		Facts: answer.Fields[*checked](),
		Layout: []answer.Item[*checked]{
			{Table: answer.Show(&faultTable, (*checked).faultRows), When: func(c *checked) bool {
				return c.Faults > 0
			}},
			{Table: answer.Show(&partitionTable, (*checked).partitionRows)},
			{Table: answer.Show(&groupTable, (*checked).groupRows), When: func(c *checked) bool {
				return len(c.groups) > 0
			}},
			{Line: "{?with}compared with {with}: {difference_count|difference}"},
			{Line: "[  not compared: {foreign_port_count|port} of {with} that the subnet does not have]"},
			{Table: answer.Show(&differenceTable, func(c *checked) answer.Rows[differenceRow] {
				return answer.Slice(c.differences)
			}), When: func(c *checked) bool { return len(c.differences) > 0 }},
		},
		Verdict: (*checked).verdict, Fails: answer.Always,
	}
)

func run(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	file := st.Settings.PartitionFile()
	if name := c.Arg(0); name != "" {
		if file, err = read(c.Ctx, name); err != nil {
			return err
		}
	}
	if file == nil {
		return errors.New("no file of partitions; hint: run 'check partitions FILE'")
	}
	a := newChecked(st, p.Fabric, file)
	if with := c.Option("with", ""); with != "" {
		if err := a.compare(c.Ctx, st, with); err != nil {
			return err
		}
		a.With, a.Different = answer.Text(with), answer.Int(len(a.differences))
	}
	b := st.Basis(p, session.NeedLinks)
	for _, e := range a.unread {
		place, _ := answer.Port(p.Fabric, e).Place()
		b.Unread.Note("P_Key table", "not in "+c.Option("with", ""), 1, place)
	}
	return c.Answer(decl.Answer(b, a))
}

func read(ctx context.Context, name string) (*osm.PartitionFile, error) {
	return files.Parse(ctx, name, files.List, osm.ReadPartitions)
}

func newChecked(st *session.State, f *fabric.Fabric, file *osm.PartitionFile) *checked {
	a := &checked{File: file.Name, Parsed: !file.Broken, f: f}
	a.notes, a.partitions, a.groups = st.Settings.CheckPartitions(file, f)
	a.Partitions, a.Faults = len(a.partitions), len(a.notes)
	for i := range a.groups {
		if a.groups[i].Refused != "" {
			a.Refused++
		}
	}
	a.Groups = len(a.groups) - a.Refused
	return a
}

func (a *checked) verdict() (answer.Verdict, string) {
	switch {
	case a.Faults > 0:
		return answer.Found, "the file of partitions has " + prose.Count(a.Faults, "fault")
	case len(a.differences) > 0:
		return answer.Found, prose.Count(len(a.differences), "difference")
	case len(a.unread) > 0:
		return answer.Unknown, "the P_Keys of " + prose.Count(len(a.unread), "port") + " were not read"
	}
	return answer.OK, ""
}

func (a *checked) faultRows() answer.Rows[faultRow] {
	return answer.Lazy(len(a.notes), func(i int) faultRow {
		n := &a.notes[i]
		return faultRow{n.Line, n.Kind, n.Text}
	})
}

func (a *checked) partitionRows() answer.Rows[partitionRow] {
	return answer.Lazy(len(a.partitions), func(i int) partitionRow {
		p := &a.partitions[i]
		row := partitionRow{Key: partitionText(p.Number), Name: p.Name, SL: int(p.SL), Line: p.Line}
		for _, full := range p.Members {
			if full {
				row.Full++
			}
		}
		row.Limited = len(p.Members) - row.Full
		return row
	})
}

func (a *checked) groupRows() answer.Rows[groupRow] {
	return answer.Lazy(len(a.groups), func(i int) groupRow {
		g := &a.groups[i]
		mgid, mtu, rate := administration.GroupText(&g.Group)
		return groupRow{
			MGID: mgid, Key: fmt.Sprintf("0x%04x", g.PKey), MTU: answer.Optional(mtu), Rate: answer.Optional(rate),
			SL: int(g.SL), Line: g.Line, Refused: answer.Optional(g.Refused),
		}
	})
}

func partitionText(number uint16) string { return fmt.Sprintf("0x%04x", number) }

// compare finds the differences from another file of partitions, from the P_Keys in a folder of ibdiagnet, or from the
// P_Keys of the live state.
func (a *checked) compare(ctx context.Context, st *session.State, with string) error {
	keys := osm.PKeys(a.f, a.partitions)
	if with == string(session.Live) {
		if st.PKeys == nil {
			return errors.New("the P_Keys of the subnet were not read; hint: run 'sweep full pkeys'")
		}
		a.compareRead(keys, st.PKeys)
		return nil
	}
	if info, err := os.Stat(with); err == nil && info.IsDir() {
		sub, err := formats.Read(ctx, with)
		switch {
		case err != nil:
			return err
		case sub.PKeys == nil:
			return fmt.Errorf("compare P_Keys with %s: it has none", fabric.Escape(with))
		}
		for guid := range sub.PKeys {
			if port := a.f.PortByGUID(guid); port == fabric.None || !a.f.Nodes[a.f.Ports[port].Node].InSubnet {
				a.Foreign++
			}
		}
		if a.Foreign == len(sub.PKeys) {
			return fmt.Errorf("compare P_Keys with %s: a folder of another subnet: the subnet has none of its %s",
				fabric.Escape(with), prose.Count(len(sub.PKeys), "port"))
		}
		a.compareRead(keys, sub.PKeys)
		return nil
	}
	file, err := read(ctx, with)
	if err != nil {
		return err
	}
	other := newChecked(st, a.f, file)
	theirs := map[uint64][]mad.PKey{}
	for e, of := range osm.PKeys(a.f, other.partitions) {
		theirs[a.f.Ports[e].GUID] = of
	}
	a.compareKeys(keys, theirs)
	a.compareTexts("service level", levels(a.partitions), levels(other.partitions))
	a.compareTexts("group", groupTexts(a.groups), groupTexts(other.groups))
	return nil
}

// compareRead compares the P_Keys of the file with the P_Keys that were read from ports.
func (a *checked) compareRead(keys map[fabric.PortIndex][]mad.PKey, read map[uint64][]mad.PKey) {
	known := map[fabric.PortIndex][]mad.PKey{}
	theirs := map[uint64][]mad.PKey{}
	for _, e := range a.f.EndPorts {
		port := &a.f.Ports[e]
		of, ok := read[port.GUID]
		switch {
		case ok:
			known[e], theirs[port.GUID] = keys[e], of
		case a.f.Nodes[port.Node].InSubnet:
			a.unread = append(a.unread, e)
		}
	}
	a.compareKeys(known, theirs)
}

func (a *checked) compareKeys(keys map[fabric.PortIndex][]mad.PKey, theirs map[uint64][]mad.PKey) {
	text := func(of []mad.PKey) string {
		of = slices.DeleteFunc(slices.Clone(of), func(k mad.PKey) bool { return k == 0 })
		slices.Sort(of)
		words := prose.Words(of, func(k mad.PKey) string { return fmt.Sprintf("0x%04x", k) })
		return cmp.Or(strings.Join(words, " "), "none")
	}
	for _, e := range a.f.EndPorts {
		port := &a.f.Ports[e]
		if this, that := text(keys[e]), text(theirs[port.GUID]); this != that && a.f.Nodes[port.Node].InSubnet {
			a.differences = append(a.differences, differenceRow{"P_Keys", answer.Port(a.f, e).String(), this, that,
				feature.ToPort(a.f, e)})
		}
	}
}

// compareTexts compares properties by name.
func (a *checked) compareTexts(what string, these, those map[string]string) {
	for name := range those {
		if _, ok := these[name]; !ok {
			these[name] = ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(these)) {
		if these[name] != those[name] {
			a.differences = append(a.differences, differenceRow{What: what, Of: name,
				This: cmp.Or(these[name], "none"), That: cmp.Or(those[name], "none")})
		}
	}
}

func levels(partitions []osm.Partition) map[string]string {
	out := map[string]string{}
	for i := range partitions {
		out[partitionText(partitions[i].Number)] = fmt.Sprint(partitions[i].SL)
	}
	return out
}

func groupTexts(groups []osm.PartitionGroup) map[string]string {
	out := map[string]string{}
	for i := range groups {
		if g := &groups[i]; g.Refused == "" {
			_, mtu, rate := administration.GroupText(&g.Group)
			out[g.MGID.String()] = fmt.Sprintf("MTU %s, %s, SL %d, Q_Key 0x%x, TClass %d, FlowLabel %d",
				cmp.Or(mtu, "of the hosts"), cmp.Or(rate, "rate of the hosts"), g.SL, g.QKey, g.TrafficClass,
				g.FlowLabel)
		}
	}
	return out
}
