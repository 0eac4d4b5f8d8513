// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/shell/session/source"
)

// Proof says whether it is shown on this subnet that computed tables are those of its subnet manager.
type Proof struct {
	// Asked is false where nobody else computes tables: in a simulated subnet, a file, or without a subnet manager.
	Asked  bool
	Proved bool
	// Why says how it was proved, or why it is not.
	Why string
	// When calibrate compared, and how many entries, where that proves it.
	When    *time.Time
	Entries int
	// Manager is what somebody said of the subnet manager, Signs what is to be seen of its kind.
	Manager ManagerKind
	Signs   string
}

// String says it in a line.
func (p *Proof) String() string {
	return prose.When(p.Proved, "proved", "unproved") + " here that the subnet manager would route like this: " + p.Why
}

// Proof is what the last calibration proves now.
func (st *State) Proof() Proof {
	master, ok := st.Master()
	if !ok || st.Source.Kind == source.Sim || st.Source.Offline() {
		return Proof{}
	}
	p := Proof{Asked: true, Manager: st.ManagerKind(), Signs: st.ManagerSigns()}
	c := st.Calibrated
	if p.Why = st.whyUnproved(&master); p.Why == "" {
		p.Proved, p.When, p.Entries = true, &c.When, c.Entries
		p.Why = fmt.Sprintf("calibrate compared %s on %s, and ", prose.Count(c.Entries, "entry"),
			c.When.Format(time.DateTime)) +
			prose.When(c.Differ == 0, "none is otherwise",
				fmt.Sprintf("%d are routes that OpenSM keeps when something is lost", c.Differ))
		return p
	}
	if p.Signs != "" {
		p.Why += "; " + p.Signs
	}
	switch p.Manager {
	case ManagerOpenSM:
	case ManagerUntold:
		p.Why += "; set sm kind=opensm|mlnx|ufm|other says of what kind it is"
	default:
		p.Why += fmt.Sprintf("; the subnet manager is of the kind %s, and the engines are those of OpenSM 3.3.23",
			p.Manager)
	}
	return p
}

// whyUnproved says why the last calibration does not prove what a master would compute now, "" where it does.
func (st *State) whyUnproved(master *SM) string {
	c := st.Calibrated
	var now [2]string
	now[0], now[1] = st.Settings.Words()
	switch {
	case c == nil:
		return "calibrate has not compared these settings' tables with those of the switches"
	case c.settings != now:
		return "calibrate compared the tables of other settings"
	case c.master.GUID != master.GUID:
		return "another subnet manager has taken over since calibrate"
	case !c.master.same(master):
		return "the subnet manager was started anew since calibrate, perhaps in another version"
	case c.of != st.Live.Tables:
		return "the switches hold other tables than when calibrate compared them"
	case c.Verdict() == verdict.Unknown:
		return fmt.Sprintf("calibrate could not compare %s, whose tables were not read",
			prose.Count(len(c.Unread), "switch"))
	case !c.Explained():
		return fmt.Sprintf("calibrate found %d of %s otherwise", c.Differ, prose.Count(c.Entries, "entry"))
	}
	return ""
}
