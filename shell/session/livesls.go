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

// liveSLs holds the SLs of the live paths. They cannot be read from any switch.
type liveSLs struct {
	sls fabric.PathSLs
	// computed is true if the SLs were computed by a calibration. Otherwise the subnet administration granted all of
	// them.
	computed bool
	// unsetVLs is [Picture.UnsetVLs].
	unsetVLs string
	// of are the tables of the paths.
	of *fabric.Tables
	// master is the GUID of the master subnet manager, or 0 if there is none.
	master uint64
}

// takeSLs sets the SLs of the live paths.
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

// withSLs replaces the SLs of the live tables, and returns the new tables. The calibration stays valid.
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

// keepKnown keeps the SLs and the calibration after a sweep, if the sweep found the same subnet, tables and subnet
// manager.
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

// otherMaster reports whether the present master differs from a master with a given GUID. It returns false if there is
// no master, or if the given GUID is 0.
func (rd *Reading) otherMaster(was uint64) bool {
	master, ok := rd.Master()
	return ok && master.GUID != was && was != 0
}

// whyNotSLs returns the reason why the live paths may not have the SLs of computed tables, although the forwarding
// tables are equal. It returns "" if the paths have these SLs. Different engines may compute equal forwarding tables,
// as sssp and dfsssp do, so whyNotSLs asks the subnet administration. If that is not possible, settings from the
// opensm.conf of the subnet manager suffice.
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
		return "no subnet administration confirms the service levels of " + computed.Origin +
			", and the settings are not from an opensm.conf", nil
	}
	return "of the subnet administration: " + granted.Why(), nil
}

// readSLs requests the SLs of all live paths from the subnet administration. It returns notes about the result.
func (s *Session) readSLs(ctx context.Context) ([]string, error) {
	c, err := s.conn.SA(ctx)
	if err != nil {
		return nil, err
	}
	st := s.State()
	if st.Live.Tables == nil {
		return nil, errors.New("read the service levels of paths: the subnet has no forwarding tables")
	}
	got, err := sweep.AskPathSLs(ctx, c, st.Live.Fabric, s.progress)
	switch {
	case errors.Is(err, sweep.ErrRandomSLs):
		return []string{err.Error() + "; the service levels stay unknown; hint: run 'engine from=FILE; calibrate'"}, nil
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
