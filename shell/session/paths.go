// SPDX-License-Identifier: Apache-2.0

package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/paths"
)

const pathsKind = "paths"

// loadedPaths is a path-record database that questions go to.
type loadedPaths struct {
	db   *pathdb.DB
	name string
}

// PathsReport says what [Session.BuildPaths] made its database of, and how long that took.
type PathsReport struct {
	Title string
	Took  time.Duration
	// UnknownSLs says that the service levels are 0 as nobody knows them.
	UnknownSLs bool
	// NotRead names the switches whose tables were not read: there are no records of the paths over them.
	NotRead []string
}

// BuildPaths makes a path-record database of a picture's tables. Like, where set, is one whose order it
// keeps. With ask the subnet administration says which SLs partitions have.
func (s *Session) BuildPaths(ctx context.Context, of Kind, trace bool, like *pathdb.View, ask bool) (image []byte, rep PathsReport, err error) {
	end, err := s.begin(ctx, "path records")
	if err != nil {
		return nil, rep, err
	}
	defer end()
	st := s.State()
	p, err := st.FreshTablesOf(of)
	if err != nil {
		return nil, rep, err
	}
	opt := paths.Options{Trace: trace, Like: like, Built: p.When, Progress: s.progress}
	st.partitionOptions(p.Fabric, &opt)
	if ask {
		if err := s.askPartitions(ctx, &opt); err != nil {
			return nil, rep, err
		}
	}
	start := time.Now()
	image, err = paths.Build(ctx, p.Tables, opt)
	return image, PathsReport{st.Title(p), time.Since(start), p.Tables.Unread.SLs, prose.Words(p.Tables.NotRead(), p.Fabric.NodeName)}, err
}

// pKeysOf are the P_Keys that were read, by the end ports of a fabric.
func (st *State) pKeysOf(f *fabric.Fabric) map[fabric.PortIndex][]mad.PKey {
	out := make(map[fabric.PortIndex][]mad.PKey, len(st.PKeys))
	for _, p := range f.EndPorts {
		if k := st.PKeys[f.Ports[p].GUID]; k != nil {
			out[p] = k
		}
	}
	return out
}

func (st *State) writePaths(ctx context.Context, w io.Writer, p *Picture) error {
	opt := paths.Options{Trace: true, Built: p.When}
	st.partitionOptions(p.Fabric, &opt)
	image, err := paths.Build(ctx, p.Tables, opt)
	if err != nil {
		return err
	}
	_, err = w.Write(image)
	return err
}

// OpenPaths takes up a database for questions, instead of one that was there.
func (s *Session) OpenPaths(ctx context.Context, name string) (*pathdb.DB, error) {
	db, err := pathdb.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := s.closePaths(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths = loadedPaths{db, name}
	return db, nil
}

// Paths is the database that was taken up, as its file is now; nil where none was. And its file.
func (s *Session) Paths() (db *pathdb.DB, name string) {
	s.mu.Lock()
	db, name = s.paths.db, s.paths.name
	s.mu.Unlock()
	if db != nil {
		_ = db.Refresh() // what is damaged or gone changes nothing
	}
	return db, name
}

func (s *Session) closePaths() error {
	s.mu.Lock()
	old := s.paths
	s.paths = loadedPaths{}
	s.mu.Unlock()
	if old.db == nil {
		return nil
	}
	return old.db.Close()
}

func (s *Session) loadPaths(ctx context.Context, path string) (LoadReport, error) {
	db, err := s.OpenPaths(ctx, path)
	if err != nil {
		return LoadReport{}, err
	}
	info := db.View().Info()
	return LoadReport{Paths: &info}, nil
}

// WritePathsForACM writes the records of some sources in the form that ibacm reads
// at its start (route_prov opensm_full_v1): a section for each port with its GUID and
// LID, and in those of the sources a line for each destination.
func WritePathsForACM(ctx context.Context, w io.Writer, v *pathdb.View, sources func(pathdb.PortIndex) bool) error {
	b := bufio.NewWriter(w)
	var records []pathdb.Record
	for i, p := range v.Ports() {
		if p.Flags&pathdb.Gone != 0 {
			continue
		}
		kind := "Channel Adapter"
		switch {
		case p.Flags&pathdb.SwitchPort != 0:
			kind = "Switch"
		case p.Flags&pathdb.RouterPort != 0:
			kind = "Router"
		}
		_, _ = fmt.Fprintf(b, "%s 0x%016x, base LID %d, LMC %d\n", kind, p.GUID, p.LID, p.LMC)
		if !sources(i) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(b, "# LID : SL : MTU : RATE")
		for j := range v.Ports() {
			records, _ = v.Paths(records[:0], i, j, pathdb.Want{})
			for _, r := range records {
				if r.SLID == p.LID || p.LMC > 0 {
					_, _ = fmt.Fprintf(b, "0x%04X : %d : %d : %d\n", r.DLID, r.SL, r.MTU, r.Rate)
				}
			}
		}
		if _, err := fmt.Fprintln(b); err != nil {
			return err
		}
	}
	return b.Flush()
}

// BesidePath compares what the subnet administration says of the path between two LIDs, a record or an error, with
// what a database answers to the same question, nil where they agree; without sls not the service levels.
func BesidePath(v *pathdb.View, slid, dlid uint16, r *sa.PathRecord, why error, sls bool) error {
	if errors.Is(why, sa.NoRecords) {
		if got, err := v.Query(slid, dlid, pathdb.Want{}); err == nil {
			return fmt.Errorf("%w; the database has one with P_Key 0x%04x and SL %d", why, got.PKey, got.SL)
		}
		return nil
	}
	if why != nil {
		return why
	}
	got, err := v.Query(r.SLID, r.DLID, pathdb.Want{})
	if err != nil {
		return fmt.Errorf("the database has none: %w", err)
	}
	if sls && !sameSL(v, r, &got) {
		return fmt.Errorf("P_Key 0x%04x and SL %d, in the database 0x%04x and %d", uint16(r.PKey), r.SL, got.PKey, got.SL)
	}
	switch {
	case mad.MTU(got.MTU) != r.MTU:
		return fmt.Errorf("MTU code %d, in the database %d", r.MTU, got.MTU)
	case sa.Rate(got.Rate) != r.Rate:
		return fmt.Errorf("rate %g Gb/s, in the database %g", r.Rate.Gbps(), sa.Rate(got.Rate).Gbps())
	case r.PKey != mad.PKey(got.PKey):
		return fmt.Errorf("P_Key 0x%04x, in the database 0x%04x", uint16(r.PKey), got.PKey)
	case r.LifeTime != got.LifeTime:
		return fmt.Errorf("life time code %d, in the database %d", r.LifeTime, got.LifeTime)
	}
	return nil
}

// sameSL reports whether a record of the subnet administration has the service level of the database. Those that are
// spread over paths of one kind are drawn by the subnet administration: it may have any of them.
func sameSL(v *pathdb.View, r *sa.PathRecord, got *pathdb.Record) bool {
	_, err := v.Query(r.SLID, r.DLID, pathdb.Want{SL: r.SL + 1})
	return err == nil && (r.SL^got.SL)&v.PartitionBits() == 0
}
