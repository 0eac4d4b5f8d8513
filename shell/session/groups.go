// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

// Groups are the multicast groups that a session knows.
type Groups struct {
	List   []fabric.Group
	Origin string // says where they come from
}

// GroupWords are the MGID, the MTU and the rate of a group in words, "" for what is not known.
func GroupWords(g *fabric.Group) (mgid, mtu, rate string) {
	if g.MGID != (mad.GID{}) {
		mgid = g.MGID.String()
	}
	if g.MTU != 0 {
		mtu = mad.MTU(g.MTU).String()
	}
	if r := sa.Rate(g.Rate).Gbps(); r > 0 {
		rate = fmt.Sprintf("%g Gb/s", r)
	}
	return mgid, mtu, rate
}

var errNoGroups = errors.New("no multicast groups are known (try: sa groups, load groups FILE, or sweep full mft for " +
	"what the switches hold)")

// GroupsOf are the groups that the session was told of, else those that the tables of a picture serve.
func (st *State) GroupsOf(p *Picture) (*Groups, error) {
	if st.Groups != nil {
		return st.Groups, nil
	}
	if p.Tables == nil || p.Tables.MFT == nil {
		return nil, errNoGroups
	}
	return &Groups{fabric.GroupsOf(p.Tables), "the multicast tables of " + string(p.Kind)}, nil
}

// GroupSL is the SL of the multicast groups that tables serve, [fabric.NoSL] where nobody
// told it; nil where it makes no difference.
func (st *State) GroupSL(t *fabric.Tables) func(mlid uint16) uint8 {
	switch {
	case t.MFT == nil || t.SL2VL == nil:
		return nil
	case st.Groups == nil:
		return fabric.GroupSLs(nil)
	}
	return fabric.GroupSLs(st.Groups.List)
}

func (s *Session) setGroups(g *Groups) { s.Publish(ChangeSettings, func(st *State) { st.Groups = g }) }

func (s *Session) loadGroups(ctx context.Context, path string) (LoadReport, error) {
	list, err := files.Parse(ctx, path, files.Groups, osm.ReadGroups)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: no multicast group, expected \"MC Group 0xC000 : ...\"", fabric.Escape(path))
	}
	if err != nil {
		return LoadReport{}, err
	}
	s.setGroups(&Groups{list, fabric.Escape(filepath.Base(path))})
	rep := LoadReport{Groups: len(list)}
	st := s.State()
	f := st.Paper()
	for i := range list {
		for _, m := range list[i].Members {
			if rep.Entries++; f.PortByGUID(m.GUID) == fabric.None {
				rep.gone(list[i].MLID, m.GUID)
			}
		}
	}
	return rep, nil
}

const maxGone = 8 // how many members that are not in the subnet a report names

func (r *LoadReport) gone(mlid uint16, guid uint64) {
	if len(r.Notes) < maxGone {
		r.Notes = append(r.Notes, fmt.Sprintf("port GUID 0x%016x in group 0x%04x is not in the subnet", guid, mlid))
	}
}
