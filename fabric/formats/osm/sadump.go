// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// WriteGroups writes multicast groups as OpenSM does in opensm-sa.dump (osm_sa.c, sa_dump_one_mgrp). The file has a
// line for each group, in the order of the MGIDs, and a line for each member of the group. OpenSM can read it with the
// option sa_db_file.
// O(members).
func WriteGroups(w io.Writer, groups []fabric.Group) error {
	b := bufio.NewWriterSize(w, 1<<16)
	sorted := slices.Clone(groups)
	slices.SortStableFunc(sorted, func(a, b fabric.Group) int { return bytes.Compare(a.MGID[:], b.MGID[:]) })
	for i := range sorted {
		g := &sorted[i]
		known := ""
		if g.WellKnown {
			known = " (well known)"
		}
		_, _ = fmt.Fprintf(b, "MC Group 0x%04x %s: mgid=%s port_gid=%s qkey=0x%08x mlid=0x%04x mtu=0x%02x "+
			"tclass=0x%02x pkey=0x%04x rate=0x%02x pkt_life=0x%02x sl_flow_hop=0x%08x scope_state=0x%02x "+
			"proxy_join=0x0\n\n",
			g.MLID, known, gidPair(g.MGID), gidPair(mad.GID{}), g.QKey, g.MLID, exactly|g.MTU, g.TrafficClass, g.PKey,
			exactly|g.Rate, exactly|g.Life,
			uint32(g.SL)<<28|g.FlowLabel<<8|uint32(g.HopLimit), g.Scope<<4|uint8(fabric.JoinFull))
		for _, m := range g.Members {
			proxy := 0
			if m.Proxy {
				proxy = 1
			}
			_, _ = fmt.Fprintf(b, "mcm_port: port_gid=%s scope_state=0x%02x proxy_join=0x%x\n\n",
				gidPair(mad.NewGID(m.Prefix, m.GUID)), g.Scope<<4|uint8(m.Join), proxy)
		}
	}
	return flush(b, "multicast groups")
}

// exactly is the selector value "exactly" for an MTU, a rate or a lifetime (IBA 1.2.1, 15.2.5.16).
const exactly = 2 << 6

func gidPair(g mad.GID) string { return fmt.Sprintf("0x%016x:0x%016x", g.Prefix(), g.GUID()) }

const (
	groupMark  = "MC Group "
	memberMark = "mcm_port:"
)

// ReadGroups reads the multicast groups of opensm-sa.dump. It skips InformInfo records, service records, and lines that
// begin with #.
//
// Only the LID after "MC Group" is required for a group, and only port_gid for a member. A member without scope_state
// is a full member. An mgid of zero means that the MGID is unknown. Groups with the same LID remain separate. Errors
// begin with "name:line:". O(bytes).
func ReadGroups(r io.Reader, name string) ([]fabric.Group, error) {
	var p groupParser
	lines := newLineReader(r, name)
	err := lines.each(func(text []byte) error { return p.parse(strings.TrimSpace(string(text))) })
	if err != nil {
		return nil, err
	}
	for i := range p.groups {
		p.groups[i].Members = fabric.SortMembers(p.groups[i].Members)
	}
	return p.groups, nil
}

type groupParser struct{ groups []fabric.Group }

func (p *groupParser) parse(text string) error {
	switch {
	case text == "", text[0] == '#', strings.HasPrefix(text, "InformInfo Record:"),
		strings.HasPrefix(text, "Service Record:"), strings.HasPrefix(text, "GUIDInfo Record:"):
		return nil
	case strings.HasPrefix(text, groupMark):
		return p.group(text[len(groupMark):])
	case strings.HasPrefix(text, memberMark):
		return p.member(text[len(memberMark):])
	}
	return fmt.Errorf("cannot parse %q, expected \"MC Group 0xC000 : ...\" or \"mcm_port: ...\"", shorten([]byte(text)))
}

func (p *groupParser) group(text string) error {
	head, fields, ok := strings.Cut(text, ":")
	words := strings.Fields(head)
	if !ok || len(words) == 0 {
		return fmt.Errorf("no colon after the LID in %q, expected \"MC Group 0xC000 : mgid=...\"",
			shorten([]byte(text)))
	}
	mlid, err := strconv.ParseUint(words[0], 0, 16)
	if err != nil || mlid < fabric.FirstMLID || mlid > fabric.LastMLID {
		return fmt.Errorf("%q is not a multicast LID, expected 0x%X to 0x%X", shorten([]byte(words[0])),
			fabric.FirstMLID,
			fabric.LastMLID)
	}
	g := fabric.Group{MLID: uint16(mlid), WellKnown: strings.Contains(head, "(well known)"), MGID: mad.GID{},
		SLUnknown: true}
	if err := eachField(fields, func(key, value string) error { return groupField(&g, key, value) }); err != nil {
		return err
	}
	p.groups = append(p.groups, g)
	return nil
}

func groupField(g *fabric.Group, key, value string) (err error) {
	var n uint64
	switch key {
	case "mgid":
		g.MGID, err = parseGIDPair(value)
		if err == nil && g.MGID != (mad.GID{}) && !g.MGID.IsMulticast() {
			err = fmt.Errorf("mgid %s is not a multicast GID, expected one that begins with 0xff",
				shorten([]byte(value)))
		}
	case "port_gid", "proxy_join":
	case "qkey":
		n, err = parseField(key, value, 32)
		g.QKey = uint32(n)
	case "mlid":
		n, err = parseField(key, value, 16)
		if err == nil && uint16(n) != g.MLID {
			err = fmt.Errorf("mlid=%s differs from the multicast LID 0x%04x of the group", shorten([]byte(value)),
				g.MLID)
		}
	case "mtu":
		n, err = parseField(key, value, 8)
		g.MTU = uint8(n) & 0x3f
	case "tclass":
		n, err = parseField(key, value, 8)
		g.TrafficClass = uint8(n)
	case "pkey":
		n, err = parseField(key, value, 16)
		g.PKey = uint16(n)
	case "rate":
		n, err = parseField(key, value, 8)
		g.Rate = uint8(n) & 0x3f
	case "pkt_life":
		n, err = parseField(key, value, 8)
		g.Life = uint8(n) & 0x3f
	case "sl_flow_hop":
		n, err = parseField(key, value, 32)
		g.SLUnknown = false
		g.SL, g.FlowLabel, g.HopLimit = uint8(n>>28), uint32(n)>>8&0xfffff, uint8(n)
	case "scope_state":
		n, err = parseField(key, value, 8)
		g.Scope = uint8(n) >> 4
	default:
		err = fmt.Errorf("a group has no field %q, expected mgid, mlid, pkey, qkey, mtu, rate, pkt_life, tclass, "+
			"sl_flow_hop, scope_state", shorten([]byte(key)))
	}
	return err
}

func (p *groupParser) member(text string) error {
	if len(p.groups) == 0 {
		return errors.New("a member before any group, expected \"MC Group 0xC000 : ...\"")
	}
	m := fabric.Member{Join: fabric.JoinFull}
	err := eachField(text, func(key, value string) error { return memberField(&m, key, value) })
	switch {
	case err != nil:
		return err
	case m.GUID == 0:
		return errors.New("a member without port_gid=0xPREFIX:0xGUID")
	case m.Join == 0:
		return errors.New("scope_state without a join bit, expected 1 full, 2 non, 4 send-only or 8 send-only full")
	}
	g := &p.groups[len(p.groups)-1]
	g.Members = append(g.Members, m)
	return nil
}

func memberField(m *fabric.Member, key, value string) error {
	switch key {
	case "port_gid":
		gid, err := parseGIDPair(value)
		m.Prefix, m.GUID = gid.Prefix(), gid.GUID()
		return err
	case "scope_state":
		n, err := parseField(key, value, 8)
		m.Join = fabric.JoinState(n & 0xf)
		return err
	case "proxy_join":
		n, err := parseField(key, value, 8)
		m.Proxy = n != 0
		return err
	}
	return fmt.Errorf("a member has no field %q, expected port_gid, scope_state, proxy_join", shorten([]byte(key)))
}

func eachField(text string, use func(key, value string) error) error {
	for word := range strings.FieldsSeq(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return fmt.Errorf("%q, expected NAME=VALUE", shorten([]byte(word)))
		}
		if err := use(key, value); err != nil {
			return err
		}
	}
	return nil
}

func parseField(key, value string, bits int) (uint64, error) {
	n, err := strconv.ParseUint(value, 0, bits)
	if err != nil {
		return 0, fmt.Errorf("%s=%s, expected a number of %d bits, as in 0x1", key, shorten([]byte(value)), bits)
	}
	return n, nil
}

func parseGIDPair(text string) (mad.GID, error) {
	high, low, ok := strings.Cut(text, ":")
	prefix, err := strconv.ParseUint(high, 0, 64)
	guid, err2 := strconv.ParseUint(low, 0, 64)
	if !ok || err != nil || err2 != nil {
		return mad.GID{}, fmt.Errorf("cannot parse GID %q, expected text like 0xfe80000000000000:0x0000000000100001",
			shorten([]byte(text)))
	}
	return mad.NewGID(prefix, guid), nil
}
