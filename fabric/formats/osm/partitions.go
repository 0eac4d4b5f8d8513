// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// DefaultPartition is the number of the partition that always exists.
const DefaultPartition uint16 = 0x7fff

// Partition holds the number and the members of a partition, and the SL for its packets.
type Partition struct {
	Name string
	// Number holds the lower 15 bits of the partition's P_Keys.
	Number uint16
	SL     uint8
	// Line is the line of the file that sets SL, 0 for none.
	Line int
	// Members maps the port GUID of each member to true for a full member, false for a limited member. Limited members
	// communicate only with full members.
	Members map[uint64]bool
}

// PartitionFile is the content of OpenSM's file partitions.conf (opensm(8), "PARTITION CONFIGURATION").
type PartitionFile struct {
	Name string
	// Notes lists text without effect or with another effect than the text suggests, in order of lines. Broken is set
	// if OpenSM cannot parse the file. OpenSM then ignores all members in it and makes all ports full members of the
	// default partition.
	Notes  []PartitionNote
	Broken bool

	// GroupSLs reports that the file gives a multicast group an SL of its own (mgid=MGID, sl=N).
	GroupSLs bool

	partitions []Partition
	groups     []PartitionGroup
	rules      []partitionRule
	generated  uint16
	line       int
	buffer     partitionBuffer
	defines    bool
	carriage   bool // a carriage return was noted
}

// PartitionNote is a remark on a line of a partitions.conf.
type PartitionNote struct {
	FileNote
	Kind string
}

// The kinds of remarks on a partitions.conf.
const (
	NoteSyntax     = "syntax"
	NoteFlag       = "flag"
	NoteGroup      = "group"
	NoteMember     = "member"
	NoteMembership = "membership"
)

// partitionRule makes one or more end ports members of a partition.
type partitionRule struct {
	partition int    // index in partitions
	ports     string // a word such as ALL; "" for the port with guid
	guid      uint64
	full      bool
	line      int
}

func (r *partitionRule) String() string {
	return prose.When(r.ports != "", r.ports, fmt.Sprintf("0x%016x", r.guid))
}

// The words of the format. Words that stand for many ports are in the order in which OpenSM matches abbreviations.
const (
	everyPort  = "ALL"
	portOfSM   = "SELF"
	noPort     = "NONE"
	mgidWord   = "mgid"
	fullWord   = "full"
	bothWord   = "both"
	limitWord  = "limited"
	memberFlag = "defmember"
	ipoibFlag  = "ipoib"
	firstFlag  = "indx0"
)

var typesOfPorts = map[string]mad.NodeType{
	"ALL_CAS": mad.NodeCA, "ALL_SWITCHES": mad.NodeSwitch, "ALL_ROUTERS": mad.NodeRouter,
}

// ReadPartitions reads a partitions.conf. If OpenSM cannot parse a line, the result is Broken.
func ReadPartitions(r io.Reader, name string) (*PartitionFile, error) {
	p := &PartitionFile{Name: name}
	p.partition("Default", DefaultPartition)
	p.rules = []partitionRule{{ports: everyPort}, {ports: portOfSM, full: true}}
	in := newPieceReader(r, name, partitionPiece)
	var d *definition
	for {
		text, err := in.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		p.line = in.line
		p.buffer.load(text)
		if d, err = p.parseLine(d); err != nil {
			p.broken(err.Error())
			return p, nil
		}
	}
	if !p.defines {
		p.broken("no partition is defined")
	}
	return p, nil
}

// parseLine parses the line in the buffer, which continues the definition d, nil for none. It returns the definition
// that the line leaves open.
func (p *PartitionFile) parseLine(d *definition) (_ *definition, err error) {
	b := &p.buffer
	b.cut(0, '#')
	if strings.Contains(b.text(0), "\r") && !p.carriage {
		p.carriage = true
		p.note(NoteSyntax, "a carriage return (line ends CRLF), which OpenSM reads as text; only line feeds end lines")
	}
	for at := 0; ; {
		if at = b.skipSpace(at); b.text(at) == "" {
			return d, nil
		}
		_, ends := b.cut(at, ';')
		if b.text(at) == "" { // a semicolon without text before it
			p.note(NoteSyntax, "a definition that ends with an empty part: OpenSM also reads the text behind it, and "+
				"text of earlier lines behind the end of the line")
			at++
		}
		if d == nil {
			if d, at, err = p.define(at); err != nil {
				return nil, err
			}
		}
		if at, err = p.members(d, at); err != nil {
			return nil, err
		}
		if !ends {
			return d, nil
		}
		d = nil
	}
}

func (p *PartitionFile) note(kind, format string, args ...any) {
	p.Notes = append(p.Notes, PartitionNote{FileNote{p.Name, p.line, fabric.Escape(fmt.Sprintf(format, args...))},
		kind})
}

func (p *PartitionFile) broken(why string) {
	p.Broken = true
	p.note(NoteSyntax, "%s; OpenSM ignores all members in the file, and all ports are full members of the default "+
		"partition", why)
	p.groups = slices.DeleteFunc(p.groups, func(g PartitionGroup) bool { return g.Partition != 0 })
	flags := defaultFlags()
	flags.qKey = ipoibQKey
	p.addGroups(0, defaultBroadcast, flags)
}

// definition is the part of a line before the colon. It selects a partition.
type definition struct {
	partition int // index in partitions
	// membership applies to ports for which the line does not state a membership.
	membership string
	flags      groupFlags
}

// define parses the text "[NAME][=P_KEY][, FLAG[=VALUE]]... : " in the buffer. If a partition is defined twice, the
// last definition determines the SL. It returns the index of the text behind the colon.
func (p *PartitionFile) define(at int) (*definition, int, error) {
	b := &p.buffer
	text := b.text(at)
	end, ok := b.cut(at, ':')
	if !ok {
		return nil, 0, fmt.Errorf("%q: expected NAME=P_KEY and a colon", strings.TrimRight(text, partitionSpace))
	}
	_, more := b.cut(at, ',')
	name, key, hasKey, at := b.nameAndValue(at)
	if !hasKey && name != "" && name[0] >= '0' && name[0] <= '9' {
		name, key, hasKey = "", name, true
	}
	number := uint16(0)
	if hasKey {
		v, rest, _ := cUnsigned(key)
		if rest != "" || key == "" {
			return nil, 0, fmt.Errorf("%q is not a P_Key", key)
		}
		if number = uint16(v) & 0x7fff; number == 0 {
			p.note(NoteFlag, "P_Key %s: the number of the partition is 0; OpenSM chooses another number", key)
		}
	}
	d := &definition{membership: limitWord, flags: defaultFlags()}
	ipoib := false
	for more {
		_, more = b.cut(at, ',')
		var isIPoIB bool
		isIPoIB, at = p.flag(d, at)
		ipoib = ipoib || isIPoIB
	}
	p.defines = true
	d.partition = p.partition(name, number)
	of := &p.partitions[d.partition]
	of.SL, of.Line = d.flags.sl, p.line
	d.flags.ownSL = false
	if ipoib {
		mgid, flags := defaultBroadcast, d.flags
		if flags.scopes &^= 1 << linkLocal; flags.scopes != 0 {
			p.note(NoteFlag, "scope: the broadcast group of the partition always has link-local scope, 2")
		}
		flags.scopes = 0
		binary.BigEndian.PutUint16(mgid[4:], of.Number|0x8000)
		flags.qKey = cmp.Or(flags.qKey, ipoibQKey)
		p.addGroups(d.partition, mgid, flags)
	}
	return d, end, nil
}

// flag parses a flag of a definition. It reports whether the flag asks for the broadcast group of IP over InfiniBand,
// and returns the index of the text behind the flag.
func (p *PartitionFile) flag(d *definition, at int) (ipoib bool, next int) {
	flag, value, hasValue, next := p.buffer.nameAndValue(at)
	switch {
	case p.groupFlag(&d.flags, flag, value, hasValue):
	case strings.HasPrefix(ipoibFlag, flag):
		return true, next
	case strings.HasPrefix(memberFlag, flag):
		if m := membershipOf(value); hasValue && m != "" {
			d.membership = m
		} else {
			p.note(NoteFlag, "%s=%s: expected full, limited or both; OpenSM skips it", flag, value)
		}
	case flag != firstFlag:
		p.note(NoteFlag, "unknown flag %q; OpenSM ignores it", flag)
	}
	return false, next
}

// partition returns the index of the partition with a number or, if the argument number is 0, with a name. If there is
// no such partition, it adds one. A new partition without a number gets the next free number.
func (p *PartitionFile) partition(name string, number uint16) int {
	at := slices.IndexFunc(p.partitions, func(x Partition) bool {
		return number != 0 && x.Number == number || number == 0 && name != "" && x.Name == name
	})
	if at >= 0 {
		return at
	}
	for number == 0 {
		p.generated++
		if !slices.ContainsFunc(p.partitions, func(x Partition) bool { return x.Number == p.generated }) {
			number = p.generated
		}
	}
	if name == "" {
		name = fmt.Sprintf("%04x", number)
	}
	p.partitions = append(p.partitions, Partition{Name: name, Number: number})
	return len(p.partitions) - 1
}

// members parses the text "PORT[=MEMBERSHIP], ..." in the buffer, or a multicast group, which extends to the end of the
// text. It returns the index of the text behind it.
func (p *PartitionFile) members(d *definition, at int) (int, error) {
	b := &p.buffer
	for more := true; more; {
		var name, word string
		var hasWord bool
		_, more = b.cut(at, ',')
		name, word, hasWord, at = b.nameAndValue(at)
		if name == mgidWord {
			return p.group(d, word, at, !more), nil
		}
		if strings.HasPrefix(noPort, name) {
			continue
		}
		membership := d.membership
		if hasWord {
			if membership = membershipOf(word); membership == "" {
				p.note(NoteFlag, "%s=%s: expected full, limited or both; OpenSM takes it for limited", name, word)
				membership = limitWord
			}
		}
		rule := partitionRule{partition: d.partition, ports: wordFor(name), full: membership != limitWord, line: p.line}
		if rule.ports == "" {
			guid, rest, _ := cUnsigned(name)
			if rest != "" || guid == 0 {
				return 0, fmt.Errorf("%q is not a port GUID", name)
			}
			rule.guid = guid
		}
		p.rules = append(p.rules, rule)
	}
	return at, nil
}

// wordFor returns the word for many ports that name abbreviates, "" if there is no such word.
func wordFor(name string) string {
	for _, w := range []string{everyPort, "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", portOfSM} {
		if strings.HasPrefix(w, name) {
			return w
		}
	}
	return ""
}

// membershipOf returns the membership word that text abbreviates, "" if there is no such word.
func membershipOf(text string) string {
	for _, w := range []string{fullWord, bothWord, limitWord} {
		if strings.HasPrefix(w, text) {
			return w
		}
	}
	return ""
}

const (
	// partitionPiece is the size of OpenSM's buffer for a line.
	partitionPiece = 4095
	// partitionSpace are the characters that OpenSM skips. A carriage return is not among them.
	partitionSpace = " \t\n"
)

// partitionBuffer is OpenSM's buffer for a line. OpenSM parses the line in place and writes NUL bytes between its
// words. It reads behind the end of some texts. The buffer there holds other parts of the line, or of earlier lines.
type partitionBuffer [partitionPiece + 2]byte

func (b *partitionBuffer) load(line string) { b[copy(b[:partitionPiece], line)] = 0 }

// text returns the text from an index to the next NUL byte.
func (b *partitionBuffer) text(at int) string {
	rest := b[min(at, len(b)):]
	if n := bytes.IndexByte(rest, 0); n >= 0 {
		rest = rest[:n]
	}
	return string(rest)
}

// cut ends the text from an index before the first byte c in it. It returns the index behind c.
func (b *partitionBuffer) cut(at int, c byte) (behind int, ok bool) {
	n := strings.IndexByte(b.text(at), c)
	if n < 0 {
		return 0, false
	}
	b[at+n] = 0
	return at + n + 1, true
}

func (b *partitionBuffer) skipSpace(at int) int {
	text := b.text(at)
	return at + len(text) - len(strings.TrimLeft(text, partitionSpace))
}

// nameAndValue returns the text NAME[=VALUE] from an index and the index behind it.
func (b *partitionBuffer) nameAndValue(at int) (name, value string, hasValue bool, next int) {
	text := b.text(at)
	name, value, hasValue = strings.Cut(text, "=")
	b.trimRight(at, len(name))
	if hasValue {
		b.trimRight(at+len(name)+1, len(value))
	}
	return strings.Trim(name, partitionSpace), strings.Trim(value, partitionSpace), hasValue, at + len(text) + 1
}

// trimRight writes NUL bytes over the space at the end of a text.
func (b *partitionBuffer) trimRight(at, length int) {
	kept := len(strings.TrimRight(string(b[at:at+length]), partitionSpace))
	clear(b[at+kept : at+length+1])
}

// Defined returns the partitions of the file without their members, in the order of their first definitions.
func (p *PartitionFile) Defined() []Partition {
	if p.Broken {
		return p.partitions[:1]
	}
	return p.partitions
}

// Of returns the partitions of a subnet that have members, sorted by number. A nil file means that there is no
// partitions.conf. All ports then are full members of the default partition.
func (p *PartitionFile) Of(f *fabric.Fabric) []Partition {
	if p == nil || p.Broken {
		of := []Partition{{Name: "Default", Number: DefaultPartition}}
		if p != nil {
			of = p.Defined()
		}
		p = &PartitionFile{partitions: of, rules: []partitionRule{{ports: everyPort, full: true}}}
	}
	out := slices.Clone(p.partitions)
	for i := range out {
		out[i].Members = map[uint64]bool{}
	}
	for i := range p.rules {
		r := &p.rules[i]
		for _, e := range p.portsOf(r, f) {
			out[r.partition].Members[f.Ports[e].GUID] = r.full
		}
	}
	out = slices.DeleteFunc(out, func(x Partition) bool { return len(x.Members) == 0 })
	slices.SortStableFunc(out, func(a, b Partition) int { return int(a.Number) - int(b.Number) })
	return out
}

// portsOf returns the end ports of a subnet to which a rule applies.
func (p *PartitionFile) portsOf(r *partitionRule, f *fabric.Fabric) (ports []fabric.PortIndex) {
	if r.ports == "" {
		if e := f.PortByGUID(r.guid); e != fabric.None && f.Nodes[f.Ports[e].Node].InSubnet {
			ports = append(ports, e)
		}
		return ports
	}
	for _, e := range f.EndPorts {
		node := &f.Nodes[f.Ports[e].Node]
		kind, byKind := typesOfPorts[r.ports]
		if node.InSubnet && (r.ports == everyPort || byKind && node.Type == kind ||
			r.ports == portOfSM && e == f.SMPort) {
			ports = append(ports, e)
		}
	}
	return ports
}

// PKeys returns the P_Keys of each end port in a subnet with these partitions.
func PKeys(f *fabric.Fabric, partitions []Partition) map[fabric.PortIndex][]mad.PKey {
	out := map[fabric.PortIndex][]mad.PKey{}
	for i := range partitions {
		for _, guid := range slices.Sorted(maps.Keys(partitions[i].Members)) {
			key := mad.PKey(partitions[i].Number)
			if partitions[i].Members[guid] {
				key |= mad.PKeyFull
			}
			e := f.PortByGUID(guid)
			out[e] = append(out[e], key)
		}
	}
	return out
}
