export default function Page() {
  return <p>My own page</p>
}
