// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// SM is a subnet manager on a port of the subnet.
type SM struct {
	GUID     uint64
	Port     string
	Priority uint8
	State    string // its SMState in words, "silent" where it does not answer
}

var smStates = map[mad.SMState]string{
	mad.SMNotActive: "not active", mad.SMDiscovering: smDiscovering, mad.SMStandby: "standby", mad.SMMaster: smMaster,
}

const (
	smMaster      = "master"
	smDiscovering = "discovering"
)

// findSMs lists the subnet managers, the master first.
func (s *Session) findSMs(ctx context.Context, f *fabric.Fabric) ([]SM, error) {
	master, ok, others, err := sweep.MasterSM(ctx, s.conn.Client(), f)
	if err != nil {
		return nil, err
	}
	if ok {
		others = append([]sweep.SM{master}, others...)
	}
	var sms []SM
	for _, o := range others {
		sm := SM{GUID: o.Info.GUID, Port: f.PortName(o.Port), Priority: o.Info.Priority, State: smStates[o.Info.State]}
		if sm.State == "" {
			sm.State = fmt.Sprintf("state %d", o.Info.State)
		}
		if o.Err != nil {
			sm.GUID, sm.State = f.Ports[o.Port].GUID, "silent"
		}
		sms = append(sms, sm)
	}
	return sms, nil
}
