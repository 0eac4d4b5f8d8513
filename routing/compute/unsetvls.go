// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// unsetVLs says that the routes of an engine rest on VLs that no subnet manager sets.
func unsetVLs(engine string) string {
	return fmt.Sprintf("%s keeps its routes from deadlock by VLs, and with quality of service off (qos FALSE) OpenSM "+
		"sets no SL2VL tables: "+
		"packets take the VLs that the switches happen to hold", engine)
}

// withoutQoS leaves the SL2VL tables as they are in the subnet, where quality of service is off.
// Those of a subnet that nobody read are unread.
func (job *Job) withoutQoS(res *Result) {
	t := res.Tables
	if !job.NoQoS || t.SLs == nil || t.SL2VL == nil {
		return
	}
	tables := *t
	tables.SL2VL, tables.Unread.SL2VL = nil, true
	if was := job.Before; was != nil && fabric.SameNodes(was.Fabric, t.Fabric) {
		tables.SL2VL, tables.Unread.SL2VL = was.SL2VL, was.Unread.SL2VL
	}
	res.Tables, res.Figures.UnsetVLs = &tables, unsetVLs(t.Origin)
	res.Warnings = append(res.Warnings, res.Figures.UnsetVLs)
}
