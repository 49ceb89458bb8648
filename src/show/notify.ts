import type { HoldfastEvent, Notification, NotifyKind } from '../model/index.ts'
import { plain } from './paint.ts'
import { age } from './time.ts'

/** The words of a notification: what others wrote is shown, never obeyed, and cut. One that stands for several says so, in the words of the newest. */
export function notificationText(
  as: NotifyKind,
  { detail }: Pick<HoldfastEvent, 'detail'>,
  name: string,
  most: number,
  count = 1,
): Pick<Notification, 'title' | 'text'> {
  const word = (key: string): string => (typeof detail[key] === 'string' || typeof detail[key] === 'number' ? String(detail[key]) : '?')
  const said = {
    input: () =>
      detail['state'] === 'waiting'
        ? [`${name} needs an answer`, 'it asks for a permission, or has a question']
        : [
            `${name} has finished its turn`,
            `after ${age(Number(detail['lasted']))}${detail['before'] === 'waiting' ? ' since its question' : ''}; it waits for the next prompt`,
          ],
    finished: () => [`${name} ended: ${word('state')}`, word('reason')],
    refused: () => [
      `${name} has been kept to one owner`,
      `${word('command')} (pid ${word('pid')}, ${word('user')}) wanted its ${word('wanted')}, and was refused`,
    ],
    orphan: () => [`${name} was ended`, word('reason')],
    budget: () => [`${name} has burned its budget`, word('reason')],
    unwatched: () => [
      `${name} spends tokens, and nobody watches`,
      `${detail['task'] == null ? 'its agent' : `${word('harness')} (pid ${word('pid')}) inside it`} has burned ${word('tokens')} tokens; ${unwatchedWhy(detail['why'])}`,
    ],
  }[as]()
  const [first = '', ...rest] = said
  const [title = '', text = ''] = [count === 1 ? first : `and ${count} more: ${first}`, ...rest].map((line) => cut(plain(line), most))
  return { title, text }
}

const unwatchedWhy = (why: unknown): string =>
  why === 'idle'
    ? 'the agent of the session has handed back and waits'
    : why === 'keeper-gone'
      ? 'the keeper of the session is gone'
      : 'the agent of the session is gone'

export const heldBackText = (count: number): Pick<Notification, 'title' | 'text'> => ({
  title: `and ${count} more`,
  text: 'holdfast events shows what happened',
})

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)
