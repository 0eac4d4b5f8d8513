// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
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
	// Notes lists entries without effect. Broken is set if OpenSM cannot parse the file. OpenSM then ignores all
	// members in it and makes all ports full members of the default partition.
	Notes  []FileNote
	Broken bool

	// GroupSLs reports that the file gives a multicast group an SL of its own (mgid=MGID, sl=N).
	GroupSLs bool

	partitions []Partition
	rules      []partitionRule
	generated  uint16
	line       int
	defines    bool
}

// partitionRule makes one or more end ports members of a partition.
type partitionRule struct {
	partition int    // index in partitions
	ports     string // a word such as ALL; "" for the port with guid
	guid      uint64
	full      bool
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
)

var typesOfPorts = map[string]mad.NodeType{
	"ALL_CAS": mad.NodeCA, "ALL_SWITCHES": mad.NodeSwitch, "ALL_ROUTERS": mad.NodeRouter,
}

// ReadPartitions reads a partitions.conf. If OpenSM cannot parse a line, the result is Broken.
func ReadPartitions(r io.Reader, name string) (*PartitionFile, error) {
	p := &PartitionFile{Name: name}
	p.partition("Default", DefaultPartition)
	p.rules = []partitionRule{{ports: everyPort}, {ports: portOfSM, full: true}}
	in := bufio.NewScanner(r)
	var d *definition
	for in.Scan() {
		p.line++
		text, _, _ := strings.Cut(in.Text(), "#")
		for {
			text = strings.Trim(text, " \t\r")
			if text == "" {
				break
			}
			part, rest, ends := strings.Cut(text, ";")
			var err error
			if d == nil {
				d, part, err = p.define(part)
			}
			if err == nil {
				err = p.members(d, part)
			}
			if err != nil {
				p.broken(err.Error())
				return p, nil
			}
			if text = rest; ends {
				d = nil
			}
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !p.defines {
		p.broken("no partition is defined")
	}
	return p, nil
}

func (p *PartitionFile) note(format string, args ...any) {
	p.Notes = append(p.Notes, FileNote{p.Name, p.line, fabric.Escape(fmt.Sprintf(format, args...))})
}

func (p *PartitionFile) broken(why string) {
	p.Broken = true
	p.note("%s; OpenSM ignores all members in the file, and all ports are full members of the default partition", why)
}

// definition is the part of a line before the colon. It selects a partition.
type definition struct {
	partition int // index in partitions
	// membership applies to ports for which the line does not state a membership.
	membership string
}

// define parses the text "[NAME][=P_KEY][, FLAG[=VALUE]]... : ". If a partition is defined twice, the last definition
// determines the SL.
func (p *PartitionFile) define(text string) (*definition, string, error) {
	head, rest, ok := strings.Cut(text, ":")
	if !ok {
		return nil, "", fmt.Errorf("%q: expected NAME=P_KEY and a colon", text)
	}
	flags := strings.Split(head, ",")
	name, key := nameAndValue(flags[0])
	if key == "" && name != "" && name[0] >= '0' && name[0] <= '9' {
		name, key = "", name
	}
	number := uint64(0)
	if key != "" {
		var err error
		if number, err = strconv.ParseUint(key, 0, 64); err != nil {
			return nil, "", fmt.Errorf("%q is not a P_Key", key)
		}
	}
	d := &definition{membership: limitWord}
	sl := uint8(0)
	for _, f := range flags[1:] {
		flag, value := nameAndValue(f)
		switch {
		case flag == "" || flag == "s": // "" abbreviates mtu, s abbreviates scope
		case flag == "sl":
			if n, err := strconv.ParseUint(value, 0, 64); err == nil && n <= 15 {
				sl = uint8(n)
			} else {
				p.note("sl=%s: expected 0 to 15; OpenSM skips it", value)
			}
		case flag != "m" && strings.HasPrefix(memberFlag, flag) && value != "":
			d.membership = membershipOf(value, d.membership)
		}
	}
	p.defines = true
	d.partition = p.partition(name, uint16(number)&0x7fff)
	p.partitions[d.partition].SL, p.partitions[d.partition].Line = sl, p.line
	return d, rest, nil
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

// members parses the text "PORT[=MEMBERSHIP], ...", or a multicast group, which extends to the end of the line.
func (p *PartitionFile) members(d *definition, text string) error {
	for port := range strings.SplitSeq(text, ",") {
		name, membership := nameAndValue(port)
		switch {
		case name == mgidWord:
			for flag := range strings.SplitSeq(text, ",") {
				word, _ := nameAndValue(flag)
				p.GroupSLs = p.GroupSLs || word == "sl"
			}
			return nil
		case strings.HasPrefix(noPort, name):
			continue
		case membership == "":
			membership = d.membership
		default:
			membership = membershipOf(membership, limitWord)
		}
		rule := partitionRule{partition: d.partition, ports: wordFor(name), full: membership != limitWord}
		if rule.ports == "" {
			guid, err := strconv.ParseUint(name, 0, 64)
			if err != nil || guid == 0 {
				return fmt.Errorf("%q is not a port GUID", name)
			}
			rule.guid = guid
		}
		p.rules = append(p.rules, rule)
	}
	return nil
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

// membershipOf returns the membership word that text abbreviates. If there is no such word, it returns the argument
// otherwise.
func membershipOf(text, otherwise string) string {
	for _, w := range []string{fullWord, bothWord, limitWord} {
		if strings.HasPrefix(w, text) {
			return w
		}
	}
	return otherwise
}

func nameAndValue(text string) (name, value string) {
	name, value, _ = strings.Cut(text, "=")
	return strings.Trim(name, " \t"), strings.Trim(value, " \t")
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
	for _, r := range p.rules {
		for _, e := range f.EndPorts {
			port := &f.Ports[e]
			node := &f.Nodes[port.Node]
			kind, byKind := typesOfPorts[r.ports]
			switch {
			case !node.InSubnet:
			case r.ports == everyPort, byKind && node.Type == kind, r.ports == portOfSM && e == f.SMPort,
				r.ports == "" && port.GUID == r.guid:
				out[r.partition].Members[port.GUID] = r.full
			}
		}
	}
	out = slices.DeleteFunc(out, func(x Partition) bool { return len(x.Members) == 0 })
	slices.SortStableFunc(out, func(a, b Partition) int { return int(a.Number) - int(b.Number) })
	return out
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
