// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// SM is a subnet manager, or a port that says there is one behind it.
type SM struct {
	Port fabric.PortIndex // the end port of the fabric that it sits on
	Info mad.SMInfo       // what it says of itself: GUID, priority, state
	Err  error            // why it said nothing; Info is empty then. IsSM can outlive a subnet manager
}

// Master reports whether this subnet manager is the one in charge.
func (m *SM) Master() bool { return m.Err == nil && m.Info.State == mad.SMMaster }

// SMs asks for subnet managers: the ports whose IsSM bit is set in f, the local port too, and the one that
// the local port names as the master's. It returns what they say, and which of the former say nothing, in the
// order of EndPorts. It fails where ctx ends.
func SMs(ctx context.Context, client *mad.Client, f *fabric.Fabric) ([]SM, error) {
	routes := NewRoutes(f)
	batch := client.NewBatch(ctx)
	named := namedMaster(f)
	isSM := func(e fabric.PortIndex) bool { return mad.CapabilityMask(f.Ports[e].CapMask)&mad.CapIsSM != 0 }
	var sms []SM
	for _, e := range f.EndPorts {
		if !isSM(e) && e != named {
			continue
		}
		i := len(sms)
		sms = append(sms, SM{Port: e})
		path, err := routes.ToPort(e)
		if err != nil {
			sms[i].Err = err
			continue
		}
		if !isSM(e) && path.Len() == 0 {
			short, cancel := context.WithTimeout(ctx, patience)
			sms[i].Info, sms[i].Err = client.SMInfo(short, path)
			cancel()
			continue
		}
		batch.Go(mad.Request{Attr: mad.AttrSMInfo, Path: path}, func(r *mad.Reply) {
			sms[i].Err = r.Decode(&sms[i].Info)
		})
	}
	if err := batch.Wait(); err != nil {
		return nil, fmt.Errorf("look for subnet managers: %w", err)
	}
	return slices.DeleteFunc(sms, func(m SM) bool { return m.Err != nil && !isSM(m.Port) }), nil
}

// namedMaster is the port that the local port names as the master's. The local port itself has the IsSM bit
// where a subnet manager sits on it, but for port 0 of a switch: not every switch shows it there.
func namedMaster(f *fabric.Fabric) fabric.PortIndex {
	if f.SMPort == fabric.None {
		return fabric.None
	}
	local := f.EndPortOf(f.SMPort)
	named := f.PortByLID(f.Ports[local].SMLID)
	if named == local && !f.Nodes[f.Ports[local].Node].IsSwitch() {
		return fabric.None
	}
	return named
}

// patience is how long a subnet manager on the local port, of which only a LID tells, may take to say so.
const patience = 50 * time.Millisecond

// MasterSM finds the subnet manager in charge of f: the one that says it is master, the one of the highest
// priority and then of the lowest GUID if several do (IBA 1.2.1, 14.4.1). ok is false where none does. others
// are the remaining ones, silent ones among them.
func MasterSM(ctx context.Context, client *mad.Client, f *fabric.Fabric) (master SM, ok bool, others []SM, err error) {
	sms, err := SMs(ctx, client, f)
	if err != nil {
		return SM{}, false, nil, err
	}
	best := -1
	for i := range sms {
		if sms[i].Master() && (best < 0 || outranks(&sms[i].Info, &sms[best].Info)) {
			best = i
		}
	}
	if best < 0 {
		return SM{}, false, sms, nil
	}
	master = sms[best]
	return master, true, append(sms[:best:best], sms[best+1:]...), nil
}

func outranks(a, b *mad.SMInfo) bool {
	return cmp.Or(-cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.GUID, b.GUID)) < 0
}
