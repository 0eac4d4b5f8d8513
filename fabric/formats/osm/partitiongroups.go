// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// PartitionGroup is a multicast group that a partitions.conf asks for. Its MTU and rate are 0 if OpenSM chooses the
// lowest one of the hosts.
type PartitionGroup struct {
	fabric.Group
	Partition int // index in [PartitionFile.Defined]
	Line      int
	// Refused is the reason why OpenSM does not create the group, "" if it does.
	Refused string

	ownSL bool // the SL is that of the group, not of its partition
}

// groupFlags are the properties of groups in the order of the bits of C's types.
type groupFlags struct {
	mtu, rate, qKey, flowLabel uint32
	tClass, sl                 uint8
	scopes                     uint16 // a bit for each scope, 0 for link-local
	ownSL                      bool
}

func defaultFlags() groupFlags { return groupFlags{mtu: uint32(mad.MTU2048), rate: rate10Gbps} }

const (
	rate10Gbps = 3
	// highestRate is the highest code of a rate that OpenSM 3.3.23 accepts, 600 Gbit/s.
	lowestRate, highestRate = 2, 22
	ipoibQKey               = 0x0b1b
	linkLocal               = 2
	maxHops                 = 0xff
	otherSelector           = 0x40 // the bit that turns the selector "exactly" into "largest available"
)

// defaultBroadcast is the broadcast group of IP over InfiniBand in the default partition.
var defaultBroadcast = mad.GID{
	0xff, 0x10 | linkLocal, 0x40, 0x1b, 0xff, 0xff, 12: 0xff, 13: 0xff, 14: 0xff, 15: 0xff,
}

// groupFlag parses a flag of a group and reports whether it is one. An abbreviation means the first flag that begins
// with it, so "" means mtu and s means scope.
func (p *PartitionFile) groupFlag(of *groupFlags, flag, value string, hasValue bool) bool {
	v, rest, over := cUnsigned(value)
	skipped := func(expected string) {
		if flag != "" || hasValue {
			p.note(NoteFlag, "%s=%s: expected %s; OpenSM skips it", flag, value, expected)
		}
	}
	number := func(to *uint32) {
		switch {
		case !hasValue:
			skipped("a number")
			return
		case rest != "" || value == "":
			p.note(NoteFlag, "%s=%s: expected a number; OpenSM takes it for %d", flag, value, uint32(v))
		}
		*to = uint32(v)
	}
	limited := func(limit uint64) bool {
		if value == "" || v > limit || over || rest == value || rest != "" && !isCSpace(rest[0]) {
			skipped(fmt.Sprintf("0 to %d", limit))
			return false
		}
		return true
	}
	switch prefix := func(word string) bool { return strings.HasPrefix(word, flag) }; {
	case prefix("mtu"):
		number(&of.mtu)
	case prefix("rate"):
		number(&of.rate)
	case prefix("scope"):
		if scope := uint32(v); !hasValue || scope == 0 || scope > 15 {
			skipped("1 to 15")
		} else {
			of.scopes |= 1 << scope
		}
	case prefix("Q_Key"):
		number(&of.qKey)
	case prefix("TClass"):
		class := uint32(of.tClass)
		number(&class)
		of.tClass = uint8(class)
	case prefix("sl"):
		if limited(15) {
			of.sl, of.ownSL = uint8(v), true
		}
	case prefix("FlowLabel"):
		if limited(0xfffff) {
			of.flowLabel = uint32(v)
		}
	default:
		return false
	}
	return true
}

// group parses the flags of a multicast group in the buffer and adds the group. The argument behind is set if the line
// has no flags: the text behind its end, such as a comment, is then taken for flags. It returns the index of the text
// behind the flags. If the MGID is wrong, OpenSM does not parse the flags.
func (p *PartitionFile) group(d *definition, text string, at int, behind bool) int {
	mgid, err := mad.ParseGID(text)
	if err != nil || mgid[0] != 0xff {
		p.note(NoteGroup, "%q is not a multicast GID; OpenSM creates no group", text)
		return at
	}
	of := d.flags
	of.ownSL, of.tClass = false, 0
	for more := true; more; {
		var flag, value string
		var hasValue bool
		_, more = p.buffer.cut(at, ',')
		flag, value, hasValue, at = p.buffer.nameAndValue(at)
		known := len(p.Notes)
		ok := p.groupFlag(&of, flag, value, hasValue)
		if behind {
			p.Notes = p.Notes[:known]
		}
		switch {
		case behind && ok && hasValue:
			p.note(NoteFlag, "OpenSM takes the text %q behind a group without flags for a flag of the group",
				flag+"="+value)
		case !behind && !ok:
			p.note(NoteFlag, "unknown flag %q; OpenSM ignores it", flag)
		}
	}
	p.GroupSLs = p.GroupSLs || of.ownSL
	if isIP(mgid) {
		key := binary.BigEndian.Uint16(mgid[4:])
		own := p.partitions[d.partition].Number | uint16(mad.PKeyFull)
		why := ""
		switch {
		case mgid != defaultBroadcast && key != 0 && key != own:
			why = fmt.Sprintf("the P_Key in the MGID is not that of the partition, 0x%04x", own)
		case of.rate != d.flags.rate:
			why = fmt.Sprintf("rate %d differs from that of the partition, %d", of.rate, d.flags.rate)
		case of.mtu != d.flags.mtu:
			why = fmt.Sprintf("mtu %d differs from that of the partition, %d", of.mtu, d.flags.mtu)
		}
		if why != "" {
			p.refuse(PartitionGroup{Group: fabric.Group{MGID: mgid}, Partition: d.partition}, why)
			return at
		}
		binary.BigEndian.PutUint16(mgid[4:], own)
		if of.qKey == 0 {
			of.qKey = ipoibQKey
		}
	}
	if old := p.created(mgid); old != nil {
		p.note(NoteGroup, "%s is created by line %d already; OpenSM ignores this line", mgid, old.Line)
		return at
	}
	p.addGroups(d.partition, mgid, of)
	return at
}

// isIP reports whether a multicast GID is one of IP over InfiniBand (RFC 4391, section 4).
func isIP(mgid mad.GID) bool { return (mgid[2] == 0x40 || mgid[2] == 0x60) && mgid[3] == 0x1b }

func (p *PartitionFile) created(mgid mad.GID) *PartitionGroup {
	i := slices.IndexFunc(p.groups, func(g PartitionGroup) bool { return g.MGID == mgid && g.Refused == "" })
	if i < 0 {
		return nil
	}
	return &p.groups[i]
}

func (p *PartitionFile) refuse(g PartitionGroup, why string) {
	g.Line, g.Refused = p.line, why
	p.groups = append(p.groups, g)
	p.note(NoteGroup, "OpenSM does not create group %s: %s", g.MGID, why)
}

// addGroups adds a group for each scope of the flags.
func (p *PartitionFile) addGroups(partition int, mgid mad.GID, of groupFlags) {
	if of.scopes == 0 {
		of.scopes = 1 << linkLocal
	}
	for scope := range uint8(16) {
		if of.scopes>>scope&1 == 0 {
			continue
		}
		mgid[1] = mgid[1]&0xf0 | scope
		if p.created(mgid) != nil {
			continue
		}
		g := PartitionGroup{
			Group: fabric.Group{
				MGID: mgid, MTU: uint8(of.mtu) &^ (3 << 6), Rate: uint8(of.rate) &^ (3 << 6), SL: of.sl,
				TrafficClass: of.tClass, HopLimit: prose.When[uint8](scope == linkLocal, 0, maxHops), Scope: scope,
				PKey: p.partitions[partition].Number | uint16(mad.PKeyFull), QKey: of.qKey, FlowLabel: of.flowLabel,
				WellKnown: true,
			},
			Partition: partition, Line: p.line, ownSL: of.ownSL,
		}
		if uint8(of.mtu)&otherSelector != 0 {
			g.MTU = 0
		}
		if uint8(of.rate)&otherSelector != 0 {
			g.Rate = 0
		}
		if why := p.unrealizable(&g, of); why != "" {
			p.refuse(g, why)
			continue
		}
		p.groups = append(p.groups, g)
	}
}

// unrealizable returns the reason why OpenSM refuses to create a group (osm_sa_mcmember_record.c).
func (p *PartitionFile) unrealizable(g *PartitionGroup, of groupFlags) string {
	mtu := uint8(of.mtu) &^ (3 << 6)
	rate := uint8(of.rate) &^ (3 << 6)
	broadcast := g.MGID
	copy(broadcast[2:], defaultBroadcast[2:])
	copy(broadcast[4:6], g.MGID[4:6])
	switch {
	case isIP(g.MGID) && g.MGID != broadcast && p.created(broadcast) == nil:
		return "the broadcast group " + broadcast.String() + " does not exist"
	case !isIP(g.MGID) && g.MGID[1]&0xe0 != 0:
		return fmt.Sprintf("the MGID has reserved flags 0x%x", g.MGID[1]>>4)
	case !isIP(g.MGID) && g.MGID[2] == 0xa0 && g.MGID[3] == 0x1b && g.Scope == linkLocal:
		return "an MGID that the SA assigns has no link-local scope"
	case uint8(of.mtu)&otherSelector == 0 && (mtu < uint8(mad.MTU256) || mtu > uint8(mad.MTU4096)):
		return fmt.Sprintf("mtu %d is no code of an MTU, 1 to 5 (4 is 2048 bytes, 5 is 4096)", of.mtu)
	case uint8(of.rate)&otherSelector == 0 && (rate < lowestRate || rate > highestRate):
		return fmt.Sprintf("rate %d is no code of a rate, %d to %d (3 is 10 Gbit/s)", of.rate, lowestRate, highestRate)
	}
	return ""
}

// Groups returns the multicast groups of a file in a subnet, also the groups that OpenSM refuses. OpenSM removes the
// groups of partitions without members. The argument qos is false if OpenSM runs without quality of service: groups
// then have SL 0 unless the line of the group sets one.
func (p *PartitionFile) Groups(partitions []Partition, qos bool) []PartitionGroup {
	var out []PartitionGroup
	for _, g := range p.groups {
		number := p.partitions[g.Partition].Number
		if !slices.ContainsFunc(partitions, func(x Partition) bool { return x.Number == number }) && g.Refused == "" {
			g.Refused = "partition " + p.partitions[g.Partition].Name + " has no members"
		}
		if !qos && !g.ownSL {
			g.SL = 0
		}
		out = append(out, g)
	}
	return out
}

// Check returns the remarks on the file and its members in a subnet, sorted by line.
func (p *PartitionFile) Check(f *fabric.Fabric) []PartitionNote {
	out := slices.Clone(p.Notes)
	if p.Broken {
		return out
	}
	note := func(line int, kind, format string, args ...any) {
		out = append(out, PartitionNote{FileNote{p.Name, line, fabric.Escape(fmt.Sprintf(format, args...))}, kind})
	}
	type member struct {
		partition int
		guid      uint64
	}
	listed := map[member]*partitionRule{} // rules with a GUID that determine a membership
	has := make([]bool, len(p.partitions))
	for i := range p.rules {
		r := &p.rules[i]
		ports := p.portsOf(r, f)
		has[r.partition] = has[r.partition] || len(ports) > 0
		if len(ports) == 0 && r.line > 0 {
			note(r.line, NoteMember, "%s: the subnet has no such port", r)
		}
		for _, e := range ports {
			at := member{r.partition, f.Ports[e].GUID}
			old := listed[at]
			switch {
			case old != nil && old.full != r.full:
				note(r.line, NoteMembership, "%s makes %s a %s member of partition %s; that it is %s by line %d has "+
					"no effect", r, f.PortName(e), membershipName(r.full), p.partitions[r.partition].Name,
					membershipName(old.full), old.line)
			case old != nil && r.ports == "":
				note(r.line, NoteMembership, "%s is a member of partition %s by line %d already", r,
					p.partitions[r.partition].Name, old.line)
			}
			if delete(listed, at); r.ports == "" {
				listed[at] = r
			}
		}
	}
	for i := range p.partitions {
		if of := &p.partitions[i]; of.Line > 0 && !has[i] {
			note(of.Line, NoteMember, "partition %s has no members; OpenSM does not create it", of.Name)
		}
	}
	slices.SortStableFunc(out, func(a, b PartitionNote) int { return a.Line - b.Line })
	return out
}

func membershipName(full bool) string { return prose.When(full, fullWord, limitWord) }

// FileNotes returns the remarks without their kinds.
func (p *PartitionFile) FileNotes() []FileNote {
	out := make([]FileNote, len(p.Notes))
	for i := range p.Notes {
		out[i] = p.Notes[i].FileNote
	}
	return out
}
