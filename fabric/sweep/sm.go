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

// SM is a subnet manager, or a port that claims to have one.
type SM struct {
	Port fabric.PortIndex // its end port
	Info mad.SMInfo       // its SMInfo: GUID, priority, state
	Err  error            // why it did not respond; Info is then empty. The IsSM bit can outlive a subnet manager.
}

// Master reports whether the subnet manager responded and is a master.
func (m *SM) Master() bool { return m.Err == nil && m.Info.State == mad.SMMaster }

// SMs reads the SMInfo of all ports whose IsSM bit is set in f, including the local port. It also reads the SMInfo of
// the port that has the SM LID of the local port. It returns, in the order of EndPorts, the subnet managers that
// respond, and the ports with the IsSM bit that do not respond. It returns an error if ctx ends.
func SMs(ctx context.Context, client *mad.Client, f *fabric.Fabric) ([]SM, error) {
	routes := NewRoutes(f)
	batch := client.NewBatch(ctx)
	named := masterOfLocalPort(f)
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
			short, cancel := context.WithTimeout(ctx, localSMTimeout)
			sms[i].Info, sms[i].Err = client.SMInfo(short, path)
			cancel()
			continue
		}
		batch.Go(mad.Request{Attr: mad.AttrSMInfo, Path: path}, func(r *mad.Reply) {
			sms[i].Err = r.Decode(&sms[i].Info)
		})
	}
	if err := batch.Wait(); err != nil {
		return nil, fmt.Errorf("find subnet managers: %w", err)
	}
	return slices.DeleteFunc(sms, func(m SM) bool { return m.Err != nil && !isSM(m.Port) }), nil
}

// masterOfLocalPort returns the port that has the SM LID of the local port. It returns None if this is the local port
// of a channel adapter, because such a port has the IsSM bit if a subnet manager runs on it. Port 0 of a switch does
// not always set the bit, so it is returned.
func masterOfLocalPort(f *fabric.Fabric) fabric.PortIndex {
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

// localSMTimeout is the timeout for a request to the local port if the port may have a subnet manager, but does not
// have the IsSM bit.
const localSMTimeout = 50 * time.Millisecond

// MasterSM returns the master subnet manager of f. Of several masters it returns the one with the highest priority,
// then with the lowest GUID (IBA 1.2.1, 14.4.1). ok is false if there is no master. others contains the other subnet
// managers, including silent ones.
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
