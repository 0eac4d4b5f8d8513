// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/servicelevels"
)

// liveSLs are the SLs of the live paths, which no switch has.
type liveSLs struct {
	sls fabric.PathSLs
	// computed says that a calibration made them, and else the subnet administration
	// was asked for all.
	computed bool
	// unsetVLs is [Picture.UnsetVLs].
	unsetVLs string
	// of are the tables that they belong to.
	of *fabric.Tables
	// master is the GUID of the subnet manager in charge, 0 for none.
	master uint64
}

// takeSLs gives the live paths their SLs.
func (st *State) takeSLs(l *liveSLs) {
	l.of = st.withSLs(l.sls, false)
	st.Live.UnsetVLs = l.unsetVLs
	if master, ok := st.Master(); ok {
		l.master = master.GUID
	}
	st.sls = l
}

// forgetSLs undoes [State.takeSLs].
func (st *State) forgetSLs() {
	if st.sls != nil && st.sls.of == st.Live.Tables {
		st.withSLs(nil, true)
	}
	st.sls = nil
}

// withSLs gives the live tables others, and keeps the calibration.
func (st *State) withSLs(sls fabric.PathSLs, unread bool) *fabric.Tables {
	before, live, tables := st.Live.Tables, *st.Live, *st.Live.Tables
	tables.SLs, tables.Unread.SLs = sls, unread
	live.Tables, live.UnsetVLs, st.Live = &tables, "", &live
	if st.Calibrated != nil && st.Calibrated.Of == before {
		c := *st.Calibrated
		c.Of = &tables
		st.Calibrated = &c
	}
	return &tables
}

// keepKnown makes what is known of the live picture before known of that which was just
// read, where that is the same and the subnet manager no other.
func (st *State) keepKnown(before *Picture, entries diff.Entries) {
	same := before.Tables != nil && entries.Changed+entries.Unread == 0 &&
		fabric.Same(before.Fabric, st.Live.Fabric) && fabric.SameLIDs(before.Fabric, st.Live.Fabric)
	if same {
		_, others := diff.SwitchMappings(before.Tables, st.Live.Tables)
		same = others == 0
	}
	l, c := st.sls, st.Calibrated
	st.sls = nil
	if !same {
		return
	}
	if l != nil && l.of == before.Tables && !st.otherMaster(l.master) {
		st.takeSLs(&liveSLs{sls: l.sls, computed: l.computed, unsetVLs: l.unsetVLs})
	}
	if c != nil && c.Of == before.Tables && !st.otherMaster(c.Master.GUID) {
		st.keepCalibration()
	}
}

// otherMaster reports whether the master is another than one that was, 0 for none.
func (rd *Reading) otherMaster(was uint64) bool {
	master, ok := rd.Master()
	return ok && master.GUID != was && was != 0
}

// whyNotSLs says why the live paths are not known to have the SLs of computed tables that
// are the same as the live ones, "" if they have. Others may have the same forwarding tables,
// as those of sssp and dfsssp are: the subnet administration is asked, and
// where there is none, settings of the subnet manager's own file are taken at their word.
func (s *Session) whyNotSLs(ctx context.Context, st *State, computed *fabric.Tables) (string, error) {
	var granted servicelevels.Proof
	if _, ok := st.Master(); ok && s.conn.Online() {
		if err := granted.Ask(ctx, s.conn, st.Live.Tables, computed, s.progress); err != nil {
			return "", err
		}
	}
	switch {
	case granted.AllGranted(), granted.Asked == 0 && st.Settings.Conf() != "":
		return "", nil
	case granted.Asked == 0:
		return "no subnet administration says that paths have the service levels of " + computed.Origin +
			", and the settings are not from an opensm.conf", nil
	}
	return "of the subnet administration: " + granted.Why(), nil
}

// readSLs asks the subnet administration for the SLs of all live paths.
func (s *Session) readSLs(ctx context.Context) ([]string, error) {
	c, err := s.conn.SA(ctx)
	if err != nil {
		return nil, err
	}
	st := s.State()
	if st.Live.Tables == nil {
		return nil, errors.New("the service levels of paths: there are no forwarding tables")
	}
	got, err := sweep.AskPathSLs(ctx, c, st.Live.Fabric, s.progress)
	switch {
	case errors.Is(err, sweep.ErrRandomSLs):
		return []string{err.Error() + "; they stay unknown (try: engine from=FILE; calibrate)"}, nil
	case errors.Is(err, sweep.ErrManySLs):
		return []string{err.Error() + "; they stay unknown"}, nil
	}
	if err != nil {
		return nil, connection.Unanswered(err)
	}
	if got.Without > 0 {
		return []string{
			fmt.Sprintf("the service levels of paths stay unknown: %d of %d pairs asked for have no path record, as %s",
				got.Without, got.Asked, got.Example),
		}, nil
	}
	s.Publish(ChangeLive, func(st *State) { st.takeSLs(&liveSLs{sls: got.SLs}) })
	return nil, nil
}
