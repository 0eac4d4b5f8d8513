// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"fmt"

	"example.org/ibconsole/mad"
)

// Status is what a subnet administration says beyond the status that all
// classes have (IBA 15.2.2). As an error it is wrapped together with that.
type Status uint8

// Statuses.
const (
	NoResources            Status = 1
	InvalidRequest         Status = 2
	NoRecords              Status = 3
	TooManyRecords         Status = 4
	InvalidGID             Status = 5
	InsufficientComponents Status = 6
	Denied                 Status = 7
	PrioritySuggested      Status = 8
)

// Error says the status in words.
func (s Status) Error() string {
	switch s {
	case NoResources:
		return "the subnet administration has no resources"
	case InvalidRequest:
		return "invalid request"
	case NoRecords:
		return "no such record"
	case TooManyRecords:
		return "more than one record"
	case InvalidGID:
		return "invalid GID"
	case InsufficientComponents:
		return "the request says too little"
	case Denied:
		return "denied"
	case PrioritySuggested:
		return "another service level is suggested"
	}
	return fmt.Sprintf("SA status %d", uint8(s))
}

// MAD is the status as it is in the header of a MAD.
func (s Status) MAD() mad.Status { return mad.Status(s) << 8 }
